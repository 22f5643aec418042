"""Accounts: one YAML file per account holds its SQL over the archive and what its rows say."""

from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from services.contracts.declarations import BadDeclaration, read_folder
from services.contracts.durations import resolve
from services.contracts.records import Name
from services.contracts.streams import FieldName, StreamDeclaration
from services.contracts.watches import Scalar

OTHER: Final = "other"
"""Reason that is counted for rows whose own is not declared."""

_SCHEDULE: Final = ("every", "settle", "look_back")


class AccountDeclaration(BaseModel):
    """One account: a query over archived streams, run again and again as the archive grows.

    A row is judged once, by its `appended_at`, when `settle` has passed since then; the query
    sees what was appended up to `look_back` before the rows that are judged.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    account: Name
    version: Literal[1]
    description: Annotated[str, Field(min_length=1, max_length=2048)]
    streams: Annotated[tuple[Name, ...], Field(min_length=1, max_length=8)]
    durations: Annotated[dict[FieldName, str], Field(max_length=64)] = {}
    parameters: Annotated[dict[FieldName, Scalar], Field(max_length=64)] = {}
    every: str
    settle: str
    look_back: str
    sql: Annotated[str, Field(min_length=1, max_length=64 * 1024)]
    key: Annotated[tuple[FieldName, ...], Field(min_length=1, max_length=16)]
    reason: FieldName
    reasons: Annotated[dict[Name, str], Field(min_length=1, max_length=32)]

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        arguments, spans = self.arguments(), self._spans()
        if clash := {*_SCHEDULE} & self.durations.keys():
            raise ValueError(f"not a duration's name: {', '.join(sorted(clash))}")
        if spans["look_back"] < spans["every"]:
            raise ValueError("look_back is shorter than every: rows between would be left out")
        if len(arguments) < len(self.durations) + len(self.parameters):
            raise ValueError("a duration and a parameter give the same marker")
        return self

    def arguments(self) -> dict[str, Scalar]:
        """Return the values of the SQL's `:name` markers; a duration `d` gives `:d_ms`."""
        spans = resolve(self.durations)
        return {f"{name}_ms": ms for name, ms in spans.items()} | self.parameters

    def every_ms(self) -> int:
        """Return how long appended rows may wait for the next run, in milliseconds."""
        return self._spans()["every"]

    def settle_ms(self) -> int:
        """Return how long after it was appended a row can be judged, in milliseconds."""
        return self._spans()["settle"]

    def look_back_ms(self) -> int:
        """Return how far before the judged rows the query sees, in milliseconds."""
        return self._spans()["look_back"]

    def _spans(self) -> dict[str, int]:
        schedule = {"every": self.every, "settle": self.settle, "look_back": self.look_back}
        return resolve({**self.durations, **schedule})

    def check_streams(self, streams: dict[str, StreamDeclaration]) -> None:
        """Hold the account against the declared streams.

        Raises:
            BadDeclaration: a stream is not declared.
        """
        if unknown := [name for name in self.streams if name not in streams]:
            raise BadDeclaration(
                f"account {self.account}: streams not declared: {', '.join(unknown)}; "
                f"declared are: {', '.join(sorted(streams))}"
            )


def load_accounts(folder: Path) -> dict[str, AccountDeclaration]:
    """Read every `*.yaml` of a folder; return accounts by name, none for an empty folder.

    Raises:
        BadDeclaration: a file is wrong, there is no folder, or two declare the same account.
    """
    if folder.is_dir() and not any(folder.glob("*.yaml")):
        return {}
    return read_folder(AccountDeclaration, folder, "account", lambda declared: declared.account)
