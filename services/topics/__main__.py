"""`python -m services.topics`: create the topics of all declared streams and of the core."""

import sys
from pathlib import Path
from typing import Annotated

from pydantic import Field

from services.backbone.errors import Trouble
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.settings import ChannelsSettings, KafkaSettings, read_settings
from services.contracts.declarations import BadDeclaration
from services.contracts.streams import SHIPPED_STREAMS, load_streams
from services.contracts.topics import Topic, core_topics, stream_topics


class TopicsSettings(KafkaSettings, ChannelsSettings):
    """Which topics to declare."""

    streams_dir: Path = SHIPPED_STREAMS
    topic_copies: Annotated[int, Field(ge=1, le=5)] = 1
    """Copies of every topic; a stream may declare more (`replication`)."""


def declared_topics(settings: TopicsSettings) -> list[Topic]:
    """Return every topic that the settings ask for."""
    streams = load_streams(settings.streams_dir).values()
    own = [topic for stream in streams for topic in stream_topics(stream)]
    core = core_topics(settings.channels)
    return [topic.with_copies(settings.topic_copies) for topic in (*own, *core)]


def main() -> int:
    """Declare the topics; say which were created."""
    settings = read_settings(TopicsSettings)
    try:
        topics = declared_topics(settings)
        created = TopicAdmin(settings, "topics").declare(topics)
    except (Trouble, BadDeclaration) as error:
        sys.stderr.write(f"topics cannot be declared: {error}\n")
        return 1
    sys.stdout.write(f"{len(topics)} topics declared, created: {', '.join(created) or 'none'}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
