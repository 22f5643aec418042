"""Declared streams: one YAML file per stream says its topic, its key and its events' fields."""

from collections.abc import Mapping, Set
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    create_model,
    field_validator,
    model_validator,
)

from services.contracts.declarations import AS_IT_RAN, read_declaration, read_folder
from services.contracts.fields import APPENDED_AT, DATE, FieldDeclaration
from services.contracts.records import Name
from services.contracts.topics import REJECTED_LIMIT_BYTES, Topic, heartbeat, is_own, rejected

SHIPPED_STREAMS: Final = Path(__file__).parent / "streams"
"""Folder of the streams that come with Aldebaran."""

FieldName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,62}$")]


def _not_ours(name: str) -> str:
    """Spark could not tell the field from the column, nor the archive file both."""
    if name in (APPENDED_AT, DATE):
        raise ValueError(
            f"{name} is a column of Aldebaran's own; declare the field under another name, with "
            "an alias for publishers"
        )
    return name


OwnField = Annotated[FieldName, AfterValidator(_not_ours)]


class DefaultRule(BaseModel):
    """Fills a missing field with a value, or with another field's value, under a condition."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    field: FieldName
    value: str | None = None
    copy_from: Annotated[FieldName | None, Field(alias="copy")] = None
    when_present: FieldName | None = None
    when: dict[FieldName, str] = {}
    when_all_declared: bool = False
    """Fill nothing beside an undeclared field: it may be another spelling of one that decides."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.value is None) == (self.copy_from is None):
            raise ValueError("a default has either a value or a field to copy")
        return self

    def fields(self) -> set[str]:
        """Return every field that the rule names."""
        named = {self.field, self.copy_from, self.when_present, *self.when}
        return {name for name in named if name is not None}

    def check(self, fields: Mapping[str, FieldDeclaration]) -> None:
        """Hold what the rule fills in to its field: else each event that it fills would be refused.

        Raises:
            ValueError: with the field and what is wrong.
        """
        if (declared := fields.get(self.field)) is None:
            return
        if self.value is not None:
            self._check_value(declared)
        elif self.copy_from is not None and self.copy_from in fields:
            self._check_copy(declared, fields[self.copy_from])

    def _check_value(self, declared: FieldDeclaration) -> None:
        try:
            TypeAdapter(declared.python_type()).validate_python(self.value)
        except ValidationError as error:
            raise ValueError(f"{self.field}: {error.errors()[0]['msg']}") from None

    def _check_copy(self, declared: FieldDeclaration, source: FieldDeclaration) -> None:
        """A text may be a time, and a double whole: only what can never fit is refused."""
        if declared.json_type != source.json_type:
            raise ValueError(
                f"{self.field} is a {declared.type}, {self.copy_from} a {source.type}: "
                "one cannot be copied into the other"
            )

    def applies(self, event: Mapping[str, Any], declared: Set[str]) -> bool:
        """Tell whether the rule fills something in this event of a stream with these fields."""
        if self.field in event or (self.when_present and self.when_present not in event):
            return False
        if self.when_all_declared and not event.keys() <= declared:
            return False
        return all(event.get(name) == value for name, value in self.when.items())


class StreamDeclaration(BaseModel):
    """One stream: its topic's shape and what its events must look like."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    stream: Name
    version: Literal[1]
    description: str
    key: FieldName
    partitions: Annotated[int, Field(ge=1, le=1024)] = 2
    replication: Annotated[int, Field(ge=1, le=5)] = 1
    retention_hours: Annotated[int, Field(ge=1, le=24 * 3650)] = 168
    fields: Annotated[dict[OwnField, FieldDeclaration], Field(min_length=1, max_length=256)]
    aliases: dict[str, FieldName] = {}
    defaults: tuple[DefaultRule, ...] = ()

    @field_validator("stream")
    @classmethod
    def _topic_is_not_ours(cls, stream: str) -> str:
        if is_own(stream):
            raise ValueError(f"topic {stream} is Aldebaran's own: give the stream another name")
        return stream

    @field_validator("aliases")
    @classmethod
    def _no_other_field_is_spelled_so(
        cls, aliases: dict[str, str], declared: ValidationInfo
    ) -> dict[str, str]:
        # Its values would go into the column of the field that the alias stands for.
        other = {each for each, field in aliases.items() if each != field}
        if taken := other & declared.data.get("fields", {}).keys():
            named = ", ".join(sorted(taken))
            raise ValueError(f"a field of its own: {named}; leave out the alias, or the field")
        return aliases

    @field_validator("defaults")
    @classmethod
    def _fields_take_their_defaults(
        cls, defaults: tuple[DefaultRule, ...], declared: ValidationInfo
    ) -> tuple[DefaultRule, ...]:
        # Spark fills in nothing: what runs over the stream is not harmed.
        for rule in defaults if declared.context != AS_IT_RAN else ():
            rule.check(declared.data.get("fields", {}))
        return defaults

    @model_validator(mode="after")
    def _names_are_declared(self) -> Self:
        named = {self.key, *self.aliases.values()}.union(*(rule.fields() for rule in self.defaults))
        if unknown := named - self.fields.keys():
            raise ValueError(f"not among the declared fields: {', '.join(sorted(unknown))}")
        key = self.fields[self.key]
        if key.type != "string" or not key.required:
            raise ValueError(f"the key {self.key} must be a required string")
        return self

    def event_model(self) -> type[BaseModel]:
        """Return the pydantic model that validates one event; undeclared fields are kept."""
        # Under names of our own: pydantic refuses some that its models have, as model_dump.
        columns: dict[str, Any] = {
            f"field_{number}": (
                field.python_type(),
                Field(... if field.required else None, alias=name),
            )
            for number, (name, field) in enumerate(self.fields.items())
        }
        config = ConfigDict(frozen=True, extra="allow")
        return create_model(f"{self.stream}_event", __config__=config, **columns)

    def spark_ddl(self) -> str:
        """Return the schema that Spark reads the events with."""
        return ", ".join(f"`{name}` {field.spark_type}" for name, field in self.fields.items())

    def spark_predicate(self) -> str:
        """Return a SQL condition over the columns that holds for valid events only."""
        rules = [field.spark_predicate(f"`{name}`") for name, field in self.fields.items()]
        return " AND ".join(rules)

    def free_texts(self) -> list[str]:
        """Return the fields that may hold any text."""
        return [
            name for name, field in self.fields.items() if field.type == "string" and not field.enum
        ]


def stream_topics(stream: StreamDeclaration) -> tuple[Topic, ...]:
    """Return the topics of one stream: events, heartbeats, rejected."""
    events = Topic(
        stream.stream,
        partitions=stream.partitions,
        replication=stream.replication,
        retention_hours=stream.retention_hours,
        append_time=True,
    )
    kept_aside = replace(
        events,
        name=rejected(stream.stream),
        partitions=1,
        append_time=False,
        message_limit_bytes=REJECTED_LIMIT_BYTES,
    )
    return events, replace(events, name=heartbeat(stream.stream), partitions=1), kept_aside


def load_stream(path: Path) -> StreamDeclaration:
    """Read one stream's YAML file; raises BadDeclaration with file, line and reason."""
    return read_declaration(StreamDeclaration, path)


def load_streams(
    folder: Path = SHIPPED_STREAMS, context: str | None = None
) -> dict[str, StreamDeclaration]:
    """Read every stream of a folder, by name; whoever fills in no defaults says AS_IT_RAN.

    Raises:
        BadDeclaration: a file is wrong, two declare the same stream, or there is none.
    """
    return read_folder(StreamDeclaration, folder, "stream", lambda each: each.stream, context)
