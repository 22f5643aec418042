"""Rehearsals: a watch tried over recent events; nobody is told what it finds there."""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from services.contracts.declarations import FILE_LIMIT_BYTES
from services.contracts.records import Identifier, Milliseconds, Name, Severity, ShortText, Text

ALERTS_SHOWN: Final = 300
"""Most alerts that an answer lists; all of them are counted."""
SPAN_LIMIT_SECONDS: Final = 7 * 86_400.0

Yaml = Annotated[
    str, StringConstraints(min_length=1, max_length=FILE_LIMIT_BYTES, pattern=r"^[^\x00]*$")
]
By = Literal["new", "live", "both"]
"""Which version raised an alert: the one that is tried, the one that runs now, or both."""
Count = Annotated[int, Field(ge=0)]


class Part(BaseModel):
    """What all parts share: they are never changed."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Rehearsal(Part):
    """What is to be tried: a watch's YAML, and that of the watch that it would replace."""

    new: Yaml
    live: Yaml | None = None
    rules: Yaml | None = None
    """The new version's table of rules as CSV; None: the file that the auditors read."""
    span_seconds: Annotated[float, Field(gt=0, le=SPAN_LIMIT_SECONDS)] = 3600.0
    """How far back events are read."""


class Raised(Part):
    """One alert that would have been raised; `times` counts how often it was found."""

    alert_id: Identifier
    by: By
    severity: Severity
    summary: Text
    key: dict[ShortText, ShortText]
    labels: dict[ShortText, ShortText | None] = {}
    appended_at_ms: Milliseconds
    times: Count


class Looked(Part):
    """Which events were read: those of `since_ms` to `until_ms`, heartbeats included.

    `wanted` counts what lies in the whole span; where that is more than `events`, the oldest were
    left out.
    """

    since_ms: Milliseconds
    until_ms: Milliseconds
    events: Count
    wanted: Count


class Course(Part):
    """How one version did: alerts raised, how often something was found.

    `malformed` counts records that are no events of their stream, and `unusable` findings that
    the lookout would not take. `cut` says why it did not come to the end; empty if it did.
    """

    alerts: Count
    rows: Count
    malformed: Count
    unusable: Count = 0
    seconds: Annotated[float, Field(ge=0)]
    cut: ShortText = ""


class Answer(Part):
    """What came of a rehearsal; `refused` says why the new version cannot run, with its line."""

    watch: Name | None = None
    refused: Text = ""
    room: str = ""
    """How many slots the new version needs, and whether the auditors have them."""
    looked: Looked | None = None
    new: Course | None = None
    live: Course | None = None
    live_refused: Text = ""
    counts: dict[By, Count] = {}
    """How many alerts were raised by which version, where there are two."""
    raised: Annotated[tuple[Raised, ...], Field(max_length=ALERTS_SHOWN)] = ()
    """Those that only one version raised come first, then the newest."""
