"""Versioned records that travel between programs, as JSON on Kafka.

A record ignores fields it does not know, so that a newer producer may add some; a field that
changes its meaning needs a new version. Times are integers in milliseconds since 1970 (UTC).
"""

import base64
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)

from services.contracts.states import State

Identifier = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_.-]{0,62}$")]
TEXT_LIMIT_CHARACTERS: Final = 4096
SHORT_LIMIT_CHARACTERS: Final = 512
LABELS_LIMIT: Final = 32
Text = Annotated[str, StringConstraints(max_length=TEXT_LIMIT_CHARACTERS, pattern=r"^[^\x00]*$")]
ShortText = Annotated[
    str, StringConstraints(max_length=SHORT_LIMIT_CHARACTERS, pattern=r"^[^\x00]*$")
]
Milliseconds = Annotated[int, Field(ge=0, le=253_402_300_799_999)]


class Malformed(ValueError):
    """Bytes that are not a valid record; the message says what is wrong."""


class Severity(StrEnum):
    """How urgent an alert is."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"


class Record(BaseModel):
    """Base of all records: immutable, strict about what it knows, tolerant of what it does not."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    def encode(self) -> bytes:
        """Return the record as JSON bytes; whole numbers of any size are kept exact."""
        return self.model_dump_json().encode()

    @classmethod
    def decode(cls, value: bytes | None) -> Self:
        """Read a record from JSON bytes.

        Raises:
            Malformed: with the place and the reason.
        """
        try:
            return cls.model_validate_json(value or b"")
        except ValidationError as error:
            raise Malformed(describe(error)) from None


class Alert(Record):
    """One finding of a watch."""

    version: Literal[1] = 1
    alert_id: Identifier
    watch: Name
    severity: Severity
    summary: Text
    key: Annotated[dict[ShortText, ShortText], Field(min_length=1, max_length=16)]
    labels: Annotated[dict[ShortText, ShortText | None], Field(max_length=LABELS_LIMIT)] = {}
    values: Annotated[dict[ShortText, Any], Field(max_length=64)] = {}
    event_ids: Annotated[list[ShortText], Field(max_length=10_000)] = []
    appended_at_ms: Milliseconds
    detected_at_ms: Milliseconds
    auditor: Name
    declared: ShortText = ""
    """Tells what its auditor took the watch to be, rules and streams included, from anything else
    that it may be declared as; empty: not told."""

    def label(self, name: str) -> str:
        """Return a label's value; empty where it has none, as an auditor writes NULL so."""
        return self.labels.get(name) or ""


class Delivery(Record):
    """One message to one recipient on one channel, as fixed by the lookout."""

    version: Literal[1] = 1
    delivery_id: Identifier
    channel: Name
    recipient: ShortText
    repetition: Annotated[int, Field(ge=0, le=1000)] = 0
    subject: ShortText
    text: Text
    created_at_ms: Milliseconds
    alert: Alert


def _cut(reason: object) -> object:
    return reason[:SHORT_LIMIT_CHARACTERS] if isinstance(reason, str) else reason


class DeliveryEvent(Record):
    """One move of one delivery, told after the ledger has recorded it; the ledger is the truth.

    An overlong reason is cut: one by evidence or a person may be longer.
    """

    version: Literal[1] = 1
    delivery_id: Identifier
    alert_id: Identifier
    channel: Name
    recipient: ShortText
    before: State | None = None
    after: State
    attempt: Annotated[int, Field(ge=0)] = 0
    reason: Annotated[ShortText, BeforeValidator(_cut)] = ""
    provider_id: ShortText = ""
    at_ms: Milliseconds


class Rejected(Record):
    """Input that could not be used, kept whole beside the reason."""

    version: Literal[1] = 1
    topic: ShortText
    source: ShortText
    reason: ShortText
    detail: Text
    original_base64: str
    rejected_at_ms: Milliseconds

    @classmethod
    def of(
        cls, *, topic: str, source: str, reason: str, detail: str, original: bytes, at_ms: int
    ) -> Self:
        """Wrap original bytes of any kind; an overlong detail is cut."""
        return cls(
            topic=topic,
            source=source,
            reason=reason,
            detail=detail.replace("\x00", "\\0")[:TEXT_LIMIT_CHARACTERS],
            original_base64=base64.b64encode(original).decode(),
            rejected_at_ms=at_ms,
        )

    @property
    def original(self) -> bytes:
        """The input exactly as it came."""
        return base64.b64decode(self.original_base64)


class Accounted(Record):
    """One row of an account: something that no watch judged, kept beside the reason."""

    version: Literal[1] = 1
    accounted_id: Identifier
    account: Name
    reason: Name
    key: Annotated[dict[ShortText, ShortText], Field(min_length=1, max_length=16)]
    values: Annotated[dict[ShortText, Any], Field(max_length=64)] = {}
    appended_at_ms: Milliseconds
    accounted_at_ms: Milliseconds


DESCRIBED: Final = 5
"""Findings that a message about a wrong text names; of others it tells how many."""


_IN_OUR_WORDS: Final = {"tuple_type": "write a list, as [a] or [a, b]"}
"""What to do about findings that pydantic tells in Python's words."""


def describe(error: ValidationError, limit: int = DESCRIBED) -> str:
    """Say in one line what pydantic found wrong, at most `limit` findings, without the input."""
    findings = [
        f"{'.'.join(str(part) for part in item['loc']) or 'value'}: "
        f"{_IN_OUR_WORDS.get(item['type'], item['msg'])}"
        for item in error.errors(include_url=False, include_context=False, include_input=False)
    ]
    more = [f"and {len(findings) - limit} more"] if len(findings) > limit else []
    return "; ".join(findings[:limit] + more)
