"""The chart counts slots as the auditor does: by the watches and streams that it is given."""

from pathlib import Path

import pytest
import yaml

from auditor.queries.slots import slots_needed, topics_of
from services.contracts.streams import (
    SHIPPED_STREAMS,
    StreamDeclaration,
    load_streams,
    stream_topics,
)
from services.contracts.watches import SHIPPED_WATCHES, load_watches
from tests.chart.rendering import helm, needs_helm, refusal, setting

pytestmark = needs_helm

SHUFFLED = 2
STREAM = "stream: heat\nversion: 1\n"
WATCH = "watch: {}\nversion: 1\nstreams: {}\n"


def values(folder: Path, slots: int, **declared: dict[str, str]) -> list[str]:
    """Return the arguments that give these files and so many slots."""
    written = folder / f"{slots}.yaml"
    given = {**declared, "auditor": {"slots": slots, "shufflePartitions": SHUFFLED}}
    written.write_text(yaml.safe_dump(given), "utf-8")
    return ["-f", str(written)]


def accepted(arguments: list[str]) -> bool:
    """Tell whether the chart takes these values."""
    made = helm(*arguments)
    assert made.returncode == 0 or "would wait for ever" in made.stderr
    return made.returncode == 0


def test_the_shipped_watches_need_what_the_auditor_says() -> None:
    topics = [each for one in load_streams(SHIPPED_STREAMS).values() for each in stream_topics(one)]
    partitions = {topic.name: topic.partitions for topic in topics}
    watches = load_watches(SHIPPED_WATCHES).values()
    assert all(topic in partitions for watch in watches for topic in topics_of(watch))
    needed = sum(slots_needed(watch, partitions, SHUFFLED) for watch in watches)
    assert helm(*setting(f"auditor.slots={needed}")).returncode == 0
    assert f"Set auditor.slots to {needed} or more" in refusal(f"auditor.slots={needed - 1}")


@pytest.mark.parametrize(
    ("partitions", "read", "needed"),
    [
        ("partitions: 6\n", ["[heat]"], 6 + 1 + SHUFFLED),
        ("partitions: 6\n", ["[heat]", "[heat]"], 2 * (6 + 1 + SHUFFLED)),
        ("", ["[heat]"], StreamDeclaration.model_fields["partitions"].default + 1 + SHUFFLED),
        ("partitions: 6\n", ["[heat]\npaused: true", "[heat]"], 6 + 1 + SHUFFLED),
    ],
    ids=["one", "two", "partitions left out", "one paused"],
)
def test_given_files_are_counted(
    partitions: str, read: list[str], needed: int, tmp_path: Path
) -> None:
    watches = {f"{n}.yaml": WATCH.format(f"w{n}", streams) for n, streams in enumerate(read)}
    watches["limits.csv"] = "hall,limit\n"
    streams = {"heat.yaml": STREAM + partitions}
    assert accepted(values(tmp_path, needed, streams=streams, watches=watches))
    assert not accepted(values(tmp_path, needed - 1, streams=streams, watches=watches))


def test_a_shipped_stream_may_be_read_by_watches_of_ones_own(tmp_path: Path) -> None:
    (stream,) = load_streams(SHIPPED_STREAMS).values()
    needed = stream.partitions + 1 + SHUFFLED
    watches = {"own.yaml": WATCH.format("own", f"[{stream.stream}]")}
    assert accepted(values(tmp_path, needed, watches=watches))
    assert not accepted(values(tmp_path, needed - 1, watches=watches))


def test_watches_of_an_image_of_ones_own_are_told(tmp_path: Path) -> None:
    told = [*values(tmp_path, 3 * (5 + SHUFFLED)), *setting("auditor.watches=3")]
    assert accepted([*told, *setting("auditor.sourcePartitions=5")])
    assert not accepted([*told, *setting("auditor.sourcePartitions=6")])


@pytest.mark.parametrize("what", ["streams", "watches"])
def test_a_file_that_nobody_reads_is_refused(what: str, tmp_path: Path) -> None:
    files = {"heat.yaml": STREAM if what == "streams" else WATCH.format("w", "[trades]")}
    made = helm(*values(tmp_path, 16, **{what: files | {"own.yml": ""}}))
    assert made.returncode != 0
    assert f"{what}: own.yml: only *.yaml files are read: rename it" in made.stderr


@pytest.mark.parametrize(
    ("watch", "said"),
    [
        (WATCH.format("own", "[cold]"), "watch own reads stream cold, which is not among"),
        ("watch: [", "watches: own.yaml cannot be read"),
    ],
    ids=["unknown stream", "no YAML"],
)
def test_what_cannot_be_counted_is_refused(watch: str, said: str, tmp_path: Path) -> None:
    made = helm(*values(tmp_path, 16, watches={"own.yaml": watch}))
    assert made.returncode != 0
    assert said in made.stderr
