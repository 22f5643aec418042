"""Strimzi is asked for the topics that the Job would declare, for streams of one's own too."""

from pathlib import Path

import pytest
import yaml

from services.contracts.streams import SHIPPED_STREAMS
from services.topics.__main__ import TopicsSettings, declared_topics
from tests.chart.rendering import needs_helm, rendered, setting

pytestmark = needs_helm

CHANNELS = ("bus", "webhook", "email")
PARTITIONS = {"alerts": 3, "deliveries.webhook": 6}
COPIES = 3
HEAT = """\
stream: heat
version: 1
description: How warm it is in each hall.
key: hall
partitions: 6
retention_hours: 24
replication: 4
fields:
  hall: {type: string}
"""
SHAPE = "partitions: 6\nretention_hours: 24\nreplication: 4\n"
COLD = HEAT.replace("heat", "cold").replace(SHAPE, "")
Shapes = dict[str, tuple[int, int, dict[str, str]]]


def asked_for(values: Path) -> Shapes:
    """Return partitions, copies and settings of each topic that Strimzi is asked for."""
    strimzi = ("kafka.mode=strimzi", "kafka.strimzi.cluster=events", "topics.provision=strimzi")
    told = (*strimzi, "auditor.enabled=false")
    shared = ("components.lookout.partitions=3", "channels.webhook.partitions=6")
    specs = [
        each["spec"]
        for each in rendered("-f", str(values), *setting(*told, *shared))
        if each["kind"] == "KafkaTopic"
    ]
    return {
        spec["topicName"]: (
            spec["partitions"],
            spec["replicas"],
            {name: str(value) for name, value in spec["config"].items()},
        )
        for spec in specs
    }


def declared_by_the_job(streams: Path) -> Shapes:
    """Return the same of what the Job declares."""
    settings = TopicsSettings(
        channels=CHANNELS, streams_dir=streams, topic_copies=COPIES, topic_partitions=PARTITIONS
    )
    topics = declared_topics(settings)
    return {each.name: (each.partitions, each.replication, each.config()) for each in topics}


@pytest.mark.parametrize(
    "files", [{}, {"heat.yaml": HEAT, "cold.yaml": COLD}], ids=["shipped", "own"]
)
def test_both_ways_make_the_same_topics(files: dict[str, str], tmp_path: Path) -> None:
    values = tmp_path / "values.yaml"
    values.write_text(yaml.safe_dump({"streams": files}), "utf-8")
    streams = tmp_path / "streams" if files else SHIPPED_STREAMS
    for name, text in files.items():
        streams.mkdir(exist_ok=True)
        (streams / name).write_text(text, "utf-8")
    assert asked_for(values) == declared_by_the_job(streams)
