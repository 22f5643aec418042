"""Watches: one YAML file per watch holds its SQL, what its findings say, and its heartbeat."""

from datetime import date
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from services.contracts.declarations import (
    AS_IT_RAN,
    BadDeclaration,
    parse_declaration,
    read_declaration,
    read_folder,
)
from services.contracts.durations import milliseconds, resolve
from services.contracts.fields import APPENDED_AT
from services.contracts.records import LABELS_LIMIT, Name, Severity, describe
from services.contracts.streams import FieldName, StreamDeclaration
from services.contracts.summaries import check_braces, template_parts

SHIPPED_WATCHES: Final = Path(__file__).parents[2] / "spark-apps" / "auditor" / "watches"
"""Folder of the watches that come with Aldebaran."""

RULES: Final = "rules"
"""Name under which the SQL reads the watch's table of rules."""

BOOK: Final = "book"
"""Name under which the SQL reads each event with its key's book."""

BOOK_EVENTS: Final = "events"
BOOK_FORGOTTEN: Final = "forgotten"
BOOK_AT_MS: Final = "at_ms"
"""Columns of a book: its events, how many had to go as it was full; when each event came."""

BEAT: Final = "$beat"
"""Stands in heartbeat events for the id of one heartbeat."""

BEAT_LENGTH: Final = 25
"""Characters of such an id."""

TEST_SEND: Final = "test-send"
"""Names the alerts that people send to see whether a way to somebody works; no watch has it."""

ACCOUNTANT: Final = "accountant"
"""Names the alerts that tell of what the accountant finds, whose own deliveries are no findings; no
watch has it.
"""

RESERVED: Final = {TEST_SEND: "test messages", ACCOUNTANT: "what the accountant finds"}
"""Names of alerts that no watch raises, and what they are for."""

Column = FieldName


def _scalar(value: Any) -> Any:
    """Refuse with one sentence what a union of types refuses with one for each."""
    if isinstance(value, date):
        raise ValueError("put a date or time in quotes")
    if not isinstance(value, str | bool | int | float):
        raise ValueError("write a text, a number, true or false")
    return value


def _of_64_bits(value: str | bool | int | float) -> str | bool | int | float:
    """A whole number that Spark has no type for is refused, and not rounded to a double."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError("a whole number has at most 64 bits: write it with a point, as 1.0e+20")
    return value


Scalar = Annotated[
    Annotated[str, Field(max_length=1024)] | bool | int | float,
    BeforeValidator(_scalar),
    AfterValidator(_of_64_bits),
]


class SeverityColumn(BaseModel):
    """Names the result column that holds `info`, `warning` or `critical` per finding."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    column: Column


class HeartbeatEvent(BaseModel):
    """One event that a heartbeat sends; `$beat` in its texts becomes the heartbeat's id."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    stream: Name
    event: Annotated[dict[FieldName, Scalar], Field(min_length=1, max_length=256)]

    def filled(self, beat: str) -> dict[str, Any]:
        """Return the event of one heartbeat."""
        return {
            name: value.replace(BEAT, beat) if isinstance(value, str) else value
            for name, value in self.event.items()
        }


class Heartbeat(BaseModel):
    """Synthetic events that make the watch find something, to measure it while it lives."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    events: Annotated[tuple[HeartbeatEvent, ...], Field(min_length=1, max_length=64)]


class RulesDeclaration(BaseModel):
    """A table of rules that the watch's SQL joins under the name `rules`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,120}\.csv$")]
    """A CSV file with a header, in the watches' folder."""
    columns: Annotated[
        dict[FieldName, Literal["string", "bigint", "double", "boolean"]],
        Field(min_length=1, max_length=32),
    ]


class BookDeclaration(BaseModel):
    """What is kept of each event, for how long, by the key of the watch's one stream.

    The SQL reads it under the name `book`: a row for each event, with all that is kept of its key.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kept: Annotated[str, Field(max_length=64)]
    """How long an event is kept: a span, or a sum of the watch's durations."""
    events: Annotated[
        dict[FieldName, Annotated[str, Field(min_length=1, max_length=1024)]],
        Field(min_length=1, max_length=32),
    ]
    """What is kept of each event: SQL over the stream's columns."""
    totals: Annotated[
        dict[FieldName, Annotated[str, Field(pattern=r"^(sum|min|max|count)\([a-z][a-z0-9_]*\)$")]],
        Field(max_length=32),
    ] = {}
    """Numbers over what is kept, each of one column, for conditions that most events fail."""

    @model_validator(mode="after")
    def _names_fit(self) -> Self:
        unknown = {column for _, _, column in self.parts_of_totals()} - self.events.keys()
        if unknown:
            raise ValueError(f"totals: not among the events' columns: {', '.join(sorted(unknown))}")
        own = {BOOK_EVENTS, BOOK_FORGOTTEN, APPENDED_AT}
        if taken := (own & self.totals.keys()) | ({BOOK_AT_MS} & self.events.keys()):
            raise ValueError(f"every book has {', '.join(sorted(taken))} by itself")
        return self

    def parts_of_totals(self) -> list[tuple[str, str, str]]:
        """Return name, function and column of each total."""
        written = ((name, *total[:-1].split("(")) for name, total in self.totals.items())
        return [(name, function, column) for name, function, column in written]


class WatchDeclaration(BaseModel):
    """One watch: a query over streams, and how its result rows become alerts.

    Every result column that has no other part (`key`, `labels`, `event_ids`, the severity's,
    `appended_at`) becomes one of the alert's values.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    watch: Name
    version: Literal[1]
    description: Annotated[str, Field(min_length=1, max_length=2048)]
    paused: bool = False
    streams: Annotated[tuple[Name, ...], Field(min_length=1, max_length=8)]
    watermark: Annotated[str, Field(max_length=64)] = "10 minutes"
    durations: Annotated[dict[FieldName, str], Field(max_length=64)] = {}
    parameters: Annotated[dict[FieldName, Scalar], Field(max_length=64)] = {}
    rules: RulesDeclaration | None = None
    book: BookDeclaration | None = None
    sql: Annotated[str, Field(min_length=1, max_length=64 * 1024)]
    key: Annotated[tuple[Column, ...], Field(min_length=1, max_length=16)]
    severity: Severity | SeverityColumn
    labels: Annotated[tuple[Column, ...], Field(max_length=LABELS_LIMIT)] = ()
    event_ids: Column | None = None
    summary: Annotated[str, Field(min_length=1, max_length=1024)]
    rule: Annotated[str, Field(min_length=1, max_length=2048)]
    heartbeat: Heartbeat | None = None

    @field_validator("summary")
    @classmethod
    def _summary_is_a_template(cls, value: str, reading: ValidationInfo) -> str:
        if reading.context != AS_IT_RAN:
            check_braces(value)
        template_parts(value)
        return value

    @field_validator("watch")
    @classmethod
    def _is_not_reserved(cls, value: str) -> str:
        if value in RESERVED:
            raise ValueError(f"the name {value} is reserved for {RESERVED[value]}: take another")
        return value

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        _no_repeats("streams", self.streams)
        _no_repeats("key", self.key)
        _no_repeats("labels", self.labels)
        self.arguments()
        milliseconds(self.watermark)
        for name, what in ((RULES, "the table of rules"), (BOOK, "the book")):
            if name in self.streams:
                raise ValueError(f"streams: the name {name} stands for {what}")
        if self.book and len(self.streams) != 1:
            raise ValueError("book: it is kept of one stream, by that stream's key")
        self.kept_ms()
        for beat in self.heartbeat.events if self.heartbeat else ():
            if beat.stream not in self.streams:
                raise ValueError(f"heartbeat: {beat.stream} is not among the watch's streams")
        return self

    def arguments(self) -> dict[str, Scalar]:
        """Return the values of the SQL's `:name` markers.

        A duration `d` gives `:d`, a text that `window()` takes, and `:d_ms`, a whole number.
        """
        spans = resolve(self.durations)
        arguments: dict[str, Scalar] = {name: f"{ms} milliseconds" for name, ms in spans.items()}
        arguments |= {f"{name}_ms": ms for name, ms in spans.items()}
        if twice := arguments.keys() & self.parameters.keys():
            raise ValueError(f"named by a duration and a parameter: {', '.join(sorted(twice))}")
        return arguments | self.parameters

    def kept_ms(self) -> int:
        """Return how long the book surely has an event; 0 without a book.

        That is the watermark longer than is declared, for events that come so late.
        """
        if self.book is None:
            return 0
        name = "how long the book keeps an event"  # no duration has such a name
        return resolve(self.durations | {name: self.book.kept})[name] + milliseconds(self.watermark)

    def tables(self) -> tuple[str, ...]:
        """Return the names that the SQL may read."""
        events = (BOOK,) if self.book else self.streams
        return (*events, RULES) if self.rules else events

    def summary_columns(self) -> tuple[str, ...]:
        """Return the columns that the summary names."""
        return tuple(column for _, column in template_parts(self.summary) if column)

    def beat_events(self, beat: str) -> list[tuple[str, dict[str, Any]]]:
        """Return (stream, event) of one heartbeat, in the order to send them."""
        events = self.heartbeat.events if self.heartbeat else ()
        return [(item.stream, item.filled(beat)) for item in events]

    def check_streams(self, streams: dict[str, StreamDeclaration]) -> None:
        """Hold the watch against the declared streams.

        Raises:
            BadDeclaration: a stream is not declared, or a heartbeat event is not one of it.
        """
        if unknown := [name for name in self.streams if name not in streams]:
            raise BadDeclaration(
                f"watch {self.watch}: streams not declared: {', '.join(unknown)}; "
                f"declared are: {', '.join(sorted(streams))}"
            )
        if self.book and (key := streams[self.streams[0]].key) in self.book.totals:
            raise BadDeclaration(f"watch {self.watch}: book: {key} is its key, and no total")
        for beat in self.heartbeat.events if self.heartbeat else ():
            self._check_beat(beat, streams[beat.stream])

    def _check_beat(self, beat: HeartbeatEvent, stream: StreamDeclaration) -> None:
        try:
            stream.event_model().model_validate(beat.filled("b" * BEAT_LENGTH))
        except ValidationError as error:
            raise BadDeclaration(
                f"watch {self.watch}: heartbeat event of {stream.stream}: {describe(error)}"
            ) from None
        if not str(beat.event[stream.key]).startswith(BEAT):
            raise BadDeclaration(
                f"watch {self.watch}: heartbeat events of {stream.stream} need {BEAT} at the start "
                f"of their key {stream.key}, which tells them from real events"
            )


def _no_repeats(what: str, names: tuple[str, ...]) -> None:
    if repeated := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"{what}: named twice: {', '.join(sorted(repeated))}")


def load_watch(path: Path) -> WatchDeclaration:
    """Read one watch's YAML file; raises BadDeclaration with file, line and reason."""
    return read_declaration(WatchDeclaration, path)


def parse_watch(text: str, name: str) -> WatchDeclaration:
    """Read one watch from its YAML; raises BadDeclaration with name, line and reason."""
    return parse_declaration(WatchDeclaration, text, name)


def load_watches(folder: Path) -> dict[str, WatchDeclaration]:
    """Read every watch of a folder, by name.

    Raises:
        BadDeclaration: a file is wrong, two declare the same watch, or there is none.
    """
    return read_folder(WatchDeclaration, folder, "watch", lambda declared: declared.watch)
