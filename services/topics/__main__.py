"""`python -m services.topics`: create the topics of all declared streams and of the core."""

import argparse
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Final, Self

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
from services.contracts.streams import load_streams, stream_topics
from services.contracts.topics import Topic, core_topics, shared_topics

_HELP: Final = """Creates the topics of every stream in ALDEBARAN_STREAMS_DIR and of the core on
ALDEBARAN_KAFKA_BOOTSTRAP_SERVERS, gives those more partitions that are to have more, changes
nothing else, and ends. All settings are in docs/settings.md."""
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


def declared_topics(settings: TopicsSettings) -> list[Topic]:
    """Return every topic that the settings ask for."""
    streams = load_streams(settings.streams_dir).values()
    own = [topic for stream in streams for topic in stream_topics(stream)]
    core = core_topics(settings.channels, settings.topic_partitions)
    return [topic.with_copies(settings.topic_copies) for topic in (*own, *core)]


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
    argparse.ArgumentParser("python -m services.topics", description=_HELP).parse_args(arguments)
    settings = read_settings(TopicsSettings)
    try:
        admin = TopicAdmin(settings, "topics")
    except Refused as error:
        sys.stderr.write(f"settings cannot be used: {error}\n")
        return EXIT_BAD_SETTINGS
    try:
        topics = declared_topics(settings)
        patience_seconds = settings.topic_patience_seconds
        changed = patiently(lambda: admin.declare(topics), patience_seconds, SystemClock())
    except (Trouble, BadDeclaration) as error:
        sys.stderr.write(f"topics cannot be declared: {error}\n")
        return 1
    sys.stdout.write(f"{len(topics)} topics declared, changed: {', '.join(changed) or 'none'}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
