"""`python -m tests.chart.topics`: writes the chart's list of topics from the catalogue in code."""

import sys
from typing import Any, Final

import yaml

from services.contracts.streams import (
    SHIPPED_STREAMS,
    StreamDeclaration,
    load_streams,
    stream_topics,
)
from services.contracts.topics import Topic, core_topics, deliveries
from services.deliverer.wiring import channel_names
from tests.chart.rendering import CHART

PAGE: Final = CHART / "files" / "topics.yaml"
HEAD: Final = (
    "# Made of the code by `make docs`: topics of the core, of each channel and each stream,\n"
    "# and the channels that there are.\n"
)
ANY: Final = "any"
DECLARED: Final = ("partitions", "replication", "retention_hours")
"""What each stream says of its topics; of copies the chart may ask for more."""


def shape(topic: Topic) -> dict[str, Any]:
    """Return what Kafka is told of a topic; copies are the chart's matter."""
    config = {key: value for key, value in topic.config().items() if key != "min.insync.replicas"}
    return {"partitions": topic.partitions, "config": config}


def page() -> str:
    """Return the file's text."""
    streams = load_streams(SHIPPED_STREAMS)
    everything = core_topics([ANY])
    of_channel = [each for each in everything if each.name.startswith(deliveries(ANY))]
    core = [each for each in everything if each not in of_channel]
    stream = next(iter(streams.values()))
    listed = {
        "core": _shapes(*(("", topic) for topic in core)),
        "channels": [*channel_names()],
        "channel": _shapes(*((deliveries(ANY), topic) for topic in of_channel)),
        "stream": _shapes(*((stream.stream, topic) for topic in stream_topics(stream))),
        "streams": [each.model_dump(include={*DECLARED, "stream"}) for each in streams.values()],
        "defaults": {name: StreamDeclaration.model_fields[name].default for name in DECLARED},
    }
    return HEAD + yaml.safe_dump(listed)


def _shapes(*topics: tuple[str, Topic]) -> dict[str, Any]:
    """An own topic, of a channel or stream, has an empty ending; YAML would take it for nothing."""
    return {topic.name.removeprefix(prefix) or "-": shape(topic) for prefix, topic in topics}


def main() -> int:
    """Write the file."""
    PAGE.write_text(page(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
