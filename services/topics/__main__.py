"""`python -m services.topics`: create the topics of all declared streams and of the core.

With `--set-retention`: have the streams' topics kept for as long as they declare.
"""

import argparse
import math
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final, Protocol, Self

from pydantic import Field, model_validator

from services.backbone.clock import Clock, SystemClock
from services.backbone.errors import Refused, Transient, Trouble
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.settings import (
    EXIT_BAD_SETTINGS,
    ChannelsSettings,
    KafkaSettings,
    StreamsSettings,
    read_settings,
)
from services.contracts.declarations import BadDeclaration
from services.contracts.streams import StreamDeclaration, load_streams, stream_topics
from services.contracts.topics import Topic, core_topics, shared_topics
from services.topics.shapes import otherwise

_HELP: Final = """Creates the topics of every stream in ALDEBARAN_STREAMS_DIR and of the core on
ALDEBARAN_KAFKA_BOOTSTRAP_SERVERS, gives those more partitions that are to have more, changes
nothing else, and ends. All settings are in docs/settings.md."""
_SET_RETENTION: Final = """instead: have the topics of every stream that are there kept for as long
as its file in ALDEBARAN_STREAMS_DIR says (retention_hours); what is older then goes, for good"""
AGAIN_SECONDS: Final = 1.0


class TopicsSettings(KafkaSettings, ChannelsSettings, StreamsSettings):
    """Which topics to declare."""

    topic_copies: Annotated[int, Field(ge=1, le=5)] = 1
    """Copies of every topic; a stream may declare more (`replication`)."""
    topic_patience_seconds: Annotated[float, Field(ge=0, le=3600)] = 0.0
    """How long to try again while brokers are not there yet, or fewer than there are copies."""
    topic_partitions: dict[str, Annotated[int, Field(ge=1, le=1024)]] = Field(default_factory=dict)
    """Partitions of `alerts` and of each `deliveries.<channel>`, 1 if left out: so many lookouts,
    or deliverers of the channel, take records from it at once. It can be raised later."""

    @model_validator(mode="after")
    def _only_shared_topics(self) -> Self:
        known = shared_topics(self.channels)
        if unknown := sorted(self.topic_partitions.keys() - set(known)):
            raise ValueError(
                f"topic_partitions: {', '.join(unknown)} is none of {', '.join(known)}; "
                "a stream's partitions stand in its declaration"
            )
        return self


class Keeps(Protocol):
    """What knows and says for how long topics are kept; see TopicAdmin."""

    def partitions(self) -> Mapping[str, int]:
        """Return the number of partitions of each topic that is there."""

    def retention_hours(self, topic: str) -> float:
        """Return for how long a topic's records are kept."""

    def keep(self, topic: str, hours: int) -> None:
        """Have a topic's records kept for so long."""


def topics_of(streams: Iterable[StreamDeclaration]) -> list[Topic]:
    """Return the topics of declared streams."""
    return [topic for stream in streams for topic in stream_topics(stream)]


def declared_topics(settings: TopicsSettings) -> list[Topic]:
    """Return every topic that the settings ask for."""
    core = core_topics(settings.channels, settings.topic_partitions)
    wanted = (*topics_of(load_streams(settings.streams_dir).values()), *core)
    return [topic.with_copies(settings.topic_copies) for topic in wanted]


def set_retention(admin: Keeps, topics: Sequence[Topic]) -> Iterator[str]:
    """Have topics kept for as long as they declare; give a line for each that was not, once it is.

    Raises:
        Transient: the brokers cannot be reached.
        Refused: they do not tell this program, or do not let it say so; or some topics are not
            there, of which it tells when all others are kept as declared.
    """
    present = admin.partitions()
    for topic in topics:
        if topic.name not in present:
            continue
        before = admin.retention_hours(topic.name)
        if before != topic.retention_hours:
            admin.keep(topic.name, topic.retention_hours)
            was = "without limit" if math.isinf(before) else f"for {before:g} h"
            yield f"{topic.name}: kept for {topic.retention_hours} h, was kept {was}"
    if absent := [topic.name for topic in topics if topic.name not in present]:
        raise Refused(
            f"there is no topic {', '.join(absent)}: make them first (`python -m services.topics`);"
            " all others are kept for as long as declared"
        )


def set_as_declared(admin: Keeps, folder: Path) -> Iterator[str]:
    """Do so with the topics of a folder's streams; the last line says which those are, and where.

    Raises:
        BadDeclaration: a file of the folder cannot be used.
        Transient, Refused: as `set_retention` does.
    """
    streams = load_streams(folder)
    yield from set_retention(admin, topics_of(streams.values()))
    names = ", ".join(streams)
    yield f"every topic of {names} ({folder.resolve()}) is kept for as long as declared"


def patiently(
    declare: Callable[[], Iterable[str]], patience_seconds: float, clock: Clock
) -> list[str]:
    """Declare, again and again while brokers are not there yet; return what was changed.

    What is waited for is told when it changes: it may be more copies than there ever are brokers.

    Raises:
        Refused: the brokers do not take a topic.
        Transient: brokers were away for longer than the patience.
    """
    told = ""
    deadline = clock.monotonic_seconds() + patience_seconds
    while True:
        try:
            return list(declare())
        except Transient as error:
            if clock.monotonic_seconds() >= deadline:
                raise
            if told != (told := str(error)):
                sys.stderr.write(f"waiting for the brokers: {told}\n")
            clock.wait(threading.Event(), AGAIN_SECONDS)


def main(arguments: Sequence[str]) -> int:
    """Declare the topics; say which were created or have more partitions now."""
    parser = argparse.ArgumentParser("python -m services.topics", description=_HELP)
    parser.add_argument("--set-retention", action="store_true", help=_SET_RETENTION)
    told = parser.parse_args(arguments)
    settings = read_settings(TopicsSettings)
    try:
        admin = TopicAdmin(settings, "topics")
    except Refused as error:
        sys.stderr.write(f"settings cannot be used: {error}\n")
        return EXIT_BAD_SETTINGS
    does = _set_retention if told.set_retention else _declare
    try:
        for line in does(admin, settings):
            sys.stdout.write(f"{line}\n")
    except (Trouble, BadDeclaration) as error:
        what = (
            "retention is not set everywhere" if told.set_retention else "topics cannot be declared"
        )
        sys.stderr.write(f"{what}: {error}\n")
        return 1
    return 0


def _declare(admin: TopicAdmin, settings: TopicsSettings) -> Iterator[str]:
    topics = declared_topics(settings)
    patience_seconds = settings.topic_patience_seconds
    changed = patiently(lambda: admin.declare(topics), patience_seconds, SystemClock())
    found = [topic for topic in topics if topic.name not in changed]
    yield from patiently(lambda: otherwise(admin, found), patience_seconds, SystemClock())
    yield f"{len(topics)} topics declared, changed: {', '.join(changed) or 'none'}"


def _set_retention(admin: TopicAdmin, settings: TopicsSettings) -> Iterator[str]:
    return set_as_declared(admin, settings.streams_dir)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
