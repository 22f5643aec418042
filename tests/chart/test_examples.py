"""Every example goes on when one executor of an auditor is lost, where it has several."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from auditor.queries.slots import slots_needed
from services.contracts.streams import SHIPPED_STREAMS, load_streams, stream_topics
from services.contracts.watches import SHIPPED_WATCHES, load_watches
from tests.chart.rendering import CHART, EXAMPLES, case_of

VALUES = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))["auditor"]


def needed(shuffled: int) -> int:
    """Return the slots that the shipped watches take at once, as the auditor counts them."""
    topics = [each for one in load_streams(SHIPPED_STREAMS).values() for each in stream_topics(one)]
    partitions = {topic.name: topic.partitions for topic in topics}
    watches = load_watches(SHIPPED_WATCHES).values()
    return sum(slots_needed(watch, partitions, shuffled) for watch in watches)


def several() -> list[Path]:
    """Return the examples whose auditors have more than one executor each."""
    given = {path: auditor(path) for path in EXAMPLES}
    return [
        path
        for path, values in given.items()
        if values["runner"] != "local" and values["executors"]["count"] > 1
    ]


def auditor(example: Path) -> dict[str, Any]:
    """Return an example's values of the auditors, laid over the chart's own."""
    own = yaml.safe_load(example.read_text("utf-8")).get("auditor", {})
    executors = {**VALUES["executors"], **own.get("executors", {})}
    return {**VALUES, **own, "executors": executors}


def test_some_examples_have_several_executors() -> None:
    assert {case_of(path) for path in several()} >= {"full", "eks"}


@pytest.mark.parametrize("example", several(), ids=case_of)
def test_its_watches_have_slots_when_one_executor_is_lost(example: Path) -> None:
    values = auditor(example)
    executors = values["executors"]
    left = (executors["count"] - 1) * executors["cores"]
    assert left >= needed(values["shufflePartitions"])
