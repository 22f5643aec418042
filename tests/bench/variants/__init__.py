"""One change at a time: the auditor with another watch, or with other settings."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from tests.bench.engine import SHIPPED

FOLDER = Path(__file__).parent
EncodingName = Literal["JSON", "Avro"]


class Variant(BaseModel):
    """What differs from what is shipped; `watch` is a file in this folder.

    `encoding` is that of the events, which no setting of an auditor names.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    watch: str | None = None
    settings: Mapping[str, str] = Field(default_factory=dict)
    encoding: EncodingName = "JSON"

    def watch_file(self) -> Path:
        """Return the watch that the variant runs."""
        return FOLDER / self.watch if self.watch else SHIPPED


def load_variants(names: list[str] | None = None) -> list[Variant]:
    """Return the declared variants, or those that are named; the first is the one shipped."""
    declared = TypeAdapter(Annotated[list[Variant], Field(min_length=1)]).validate_python(
        yaml.safe_load((FOLDER / "variants.yaml").read_text())
    )
    return [each for each in declared if not names or each.name in names]
