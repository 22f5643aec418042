"""The table of sizes: the chart takes its values, and they ask for the cores that it names."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from auditor.queries.slots import check_slots, slots_needed, with_another
from services.contracts.streams import SHIPPED_STREAMS, load_streams
from services.contracts.topics import heartbeat
from services.contracts.watches import SHIPPED_WATCHES, load_watches
from tests.chart.rendering import CHART, ROOT, helm, needs_helm

pytestmark = needs_helm

ROW = re.compile(r"^\| ([\d,]+) \| (\d+) \| \d+ \| (\d+) \| \d+ \| (none|`(.*)`) \|$", re.MULTILINE)
ROWS = ROW.findall((ROOT / "docs" / "sizing.md").read_text("utf-8"))
PARTITIONS = re.compile(r"^partitions: \d+$", re.MULTILINE)
AUDITORS = 2
CHART_AUDITOR = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))["auditor"]
each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
Row = tuple[str, ...]


def auditor(row: Row) -> dict[str, Any]:
    """Return a row's values of the auditors."""
    read: dict[str, Any] = yaml.safe_load(row[4] or "auditor: {}")["auditor"]
    return read


def needed(row: Row) -> dict[str, int]:
    """Return the slots that the shipped watches take at once with a row's partitions."""
    shuffled = auditor(row).get("shufflePartitions", 2)
    streams = load_streams(SHIPPED_STREAMS)
    partitions = dict.fromkeys(streams, int(row[1])) | {heartbeat(name): 1 for name in streams}
    watches = load_watches(SHIPPED_WATCHES)
    return {name: slots_needed(watch, partitions, shuffled) for name, watch in watches.items()}


def slots(row: Row) -> int:
    """Return the slots that an auditor has with a row's values."""
    given = {**CHART_AUDITOR, **auditor(row)}
    executors = given["executors"]
    if given["runner"] == "local":
        return int(given["slots"])
    return int(executors["count"] * executors["cores"])


def test_every_row_is_read() -> None:
    assert len(ROWS) >= 5


@each_row
def test_the_chart_takes_a_rows_values(row: Row, tmp_path: Path) -> None:
    streams = {
        path.name: PARTITIONS.sub(f"partitions: {row[1]}", path.read_text("utf-8"))
        for path in SHIPPED_STREAMS.glob("*.yaml")
    }
    store = {"checkpoints": {"store": "s3a://bucket/prefix"}}
    written = tmp_path / f"{row[1]}.yaml"
    written.write_text(yaml.safe_dump({"streams": streams, "auditor": {**auditor(row), **store}}))
    made = helm("-f", str(written))
    assert made.returncode == 0, made.stderr


@each_row
def test_executors_have_slots_enough_when_one_is_lost(row: Row) -> None:
    executors = auditor(row).get("executors")
    if executors:
        assert (executors["count"] - 1) * executors["cores"] >= sum(needed(row).values())


@each_row
def test_the_rule_of_each_watch_can_be_changed(row: Row) -> None:
    watches = needed(row)
    for name, own in watches.items():
        check_slots(with_another(watches, name, own), slots(row))


@each_row
def test_pods_ask_for_the_cores_of_the_table(row: Row) -> None:
    values = auditor(row)
    if executors := values.get("executors"):
        assert AUDITORS * executors["count"] * int(executors["cpuRequest"]) == int(row[2])
    elif values:
        assert AUDITORS * int(values["resources"]["requests"]["cpu"]) == int(row[2])
