"""Each trouble of a running watch on the real broker, with the outcome docs/recovery.md states."""

import shutil
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from prometheus_client import REGISTRY
from pyspark.sql import SparkSession

from auditor.checkpoints.checkpoint import ASIDE, Checkpoint
from auditor.checkpoints.spared import Place as RecordPlace
from auditor.checkpoints.spared import read_spared
from auditor.supervision import SUSPECT_AFTER
from services.contracts.records import Rejected
from tests.integration.auditor.inside import Inside, rewrite, settings_of
from tests.integration.auditor.running import Findings, Place, Sender, delete_all, rejected_of

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

FAILS_ON_A_WORD = (
    "SELECT <columns>, max(IF(stock LIKE 'X%', CAST(stock AS INT), 0)) AS n, <rest> "
    "FROM trades GROUP BY order_id"
)
OVERFLOWS = "SELECT <columns>, sum(shares * 9000000) AS n, <rest> FROM trades GROUP BY order_id"


def test_poisoned_record_is_set_aside_and_the_rest_is_judged(
    spark: SparkSession, place: Place
) -> None:
    place.declare("over-purchase")
    rewrite(place, FAILS_ON_A_WORD)
    sender, alerts = Sender(place), Findings(place)
    before = counted("spared_records_total")
    with Inside(spark, settings_of(place)) as inside:
        sender.request("before", 1)
        sender.request("poisoned", 1, stock="X1O")
        sender.request("after", 1)
        sender.flush()
        folder = inside.checkpoint("over-purchase").folder
        inside.look_until("it is set aside", lambda: read_spared(folder) != ())
        inside.look_until("the rest is found", lambda: {"before", "after"} <= alerts.found())
    assert counted("spared_records_total") - before == 1
    (spared,) = read_spared(folder)
    assert isinstance(spared, RecordPlace)
    assert spared.topic == place.stream
    (kept,) = rejected_of(place)
    assert isinstance(kept, Rejected)
    assert b'"X1O"' in kept.original
    assert kept.source == "watch over-purchase"
    assert f"@{spared.offset}: " in kept.detail
    assert "CAST_INVALID_INPUT" in kept.detail
    assert "poisoned" not in alerts.found()


def test_watch_that_no_single_record_breaks_stops_and_others_live_on(
    spark: SparkSession, place: Place
) -> None:
    place.declare("over-purchase", "unusual-volume")
    rewrite(place, OVERFLOWS)
    sender, alerts = Sender(place), Findings(place)
    with Inside(spark, settings_of(place, auditor_slots=12)) as inside:
        for number in range(2):
            sender.event("request", f"r{number}", "same", 10**12 - 1)
        sender.flush()
        sick = inside["over-purchase"]
        inside.look_until("the watch is stopped", lambda: sick.stopped is not None)
        for number in range(9):
            sender.purchase(f"p{number}", "same", 1 if number < 8 else 1000)
        sender.flush()
        inside.look_until("the other finds", lambda: "Ann/ACME/p8" in alerts.found())
    assert "no single record is to blame" in str(sick.stopped)
    assert f"{place.stream}/" in str(sick.stopped)
    assert "ARITHMETIC_OVERFLOW" in str(sick.stopped)


def halve(*paths: Path) -> None:
    for path in paths:
        content = path.read_bytes()
        path.write_bytes(content[: len(content) // 2])


def newest(folder: Path) -> Path:
    return max((path for path in folder.iterdir() if path.name.isdigit()), key=number_of)


def commits(checkpoint: Checkpoint) -> int:
    """Return how many batches Spark has noted as committed."""
    return sum(path.name.isdigit() for path in (checkpoint.spark / "commits").glob("*"))


def number_of(path: Path) -> int:
    return int(path.name)


def state_files(checkpoint: Checkpoint, kind: str) -> list[Path]:
    return [path for path in (checkpoint.spark / "state").rglob(f"*.{kind}") if path.is_file()]


# What else breaks, and what Spark says then: tests/unit/auditor/test_trouble.py
DAMAGES: dict[str, Callable[[Checkpoint], object]] = {
    "truncated offset log": lambda kept: halve(newest(kept.spark / "offsets")),
    "half-written metadata": lambda kept: halve(kept.spark / "metadata"),
    "corrupt changelogs": lambda kept: halve(*state_files(kept, "changelog")),
    "wrong fingerprint": lambda kept: (kept.folder / "watch.json").write_text("{"),
}

# One that keeps the query from starting, one that its first task comes upon.
SHORT = ("truncated offset log", "corrupt changelogs")


@pytest.mark.parametrize(
    "damages",
    [pytest.param(SHORT, id="two"), pytest.param(tuple(DAMAGES), id="all", marks=pytest.mark.long)],
)
def test_broken_checkpoint_is_set_aside_and_built_again(
    spark: SparkSession, place: Place, damages: tuple[str, ...]
) -> None:
    place.declare("over-purchase")
    sender, alerts = Sender(place), Findings(place)
    whole = settings_of(place)
    with Inside(spark, whole) as inside:
        sender.request("first", 1)
        sender.flush()
        checkpoint = inside.checkpoint("over-purchase")
        inside.look_until("two batches", lambda: commits(checkpoint) >= 2)
    for damage in damages:
        key = damage.replace(" ", "-")
        settings = settings_of(place, auditor_checkpoints=place.folder / key)
        copy_ended(whole.auditor_checkpoints, settings.auditor_checkpoints)
        with Inside(spark, settings) as inside:
            checkpoint = inside.checkpoint("over-purchase")
            DAMAGES[damage](checkpoint)
            sender.request(key, 1)
            sender.purchase(f"{key}-p", key, 2)
            sender.flush()
            inside.look_until(f"{damage}: found", lambda key=key: key in alerts.found())  # type: ignore[misc] # mypy cannot infer the default's type
        assert len(list((checkpoint.home / ASIDE).iterdir())) == 1, damage


def copy_ended(checkpoints: Path, new: Path) -> None:
    """Copy what ended queries have written; their tasks go on for some milliseconds.

    So each run has a folder of its own, and what is half written, and taken back, is left out.
    """
    shutil.copytree(checkpoints, new, ignore=shutil.ignore_patterns("*.tmp*"))


def test_deleted_records_are_counted_and_the_rest_is_judged(
    spark: SparkSession, place: Place
) -> None:
    place.declare("over-purchase")
    sender, alerts = Sender(place), Findings(place)
    with Inside(spark, settings_of(place)) as inside:
        sender.request("open", 1)
        sender.flush()
        checkpoint = inside.checkpoint("over-purchase")
        inside.look_until("a batch", lambda: commits(checkpoint) >= 1)
    for number in range(20):
        sender.request(f"gone-{number}", 1)
    sender.flush()
    delete_all(place)
    before = counted("lost_records_total")
    with Inside(spark, settings_of(place)) as inside:
        sender.request("later", 1)
        sender.purchase("later-p", "later", 2)
        sender.flush()
        inside.look_until("found behind the gap", lambda: "later" in alerts.found())
    # The first request is lost too if no batch that had it was committed.
    assert counted("lost_records_total") - before in (20, 21)
    assert list((checkpoint.home / "aside").iterdir())
    with Inside(spark, settings_of(place)) as inside:
        assert inside["over-purchase"].stopped is None


def test_alerts_that_cannot_be_written_cost_no_checkpoint(
    spark: SparkSession, place: Place
) -> None:
    place.declare("over-purchase")
    sender, alerts = Sender(place), Findings(place)
    narrow = {"max.request.size": "100"}
    with Inside(spark, settings_of(place, auditor_kafka_options=narrow)) as inside:
        over(sender, "waits")
        sick, before, numbers = inside["over-purchase"], failures(), count()

        def fails() -> bool:
            """A query learns of what was not written with its next row, else at its batch's end."""
            over(sender, f"more-{next(numbers)}")
            return failures() >= before + SUSPECT_AFTER

        inside.look_until("it fails", fails)
        checkpoint = inside.checkpoint("over-purchase")
    assert sick.stopped is None
    assert not (checkpoint.home / ASIDE).exists()
    with Inside(spark, settings_of(place)) as inside:
        inside.look_until("found at last", lambda: "waits" in alerts.found())


def over(sender: Sender, order_id: str) -> None:
    sender.request(order_id, 1)
    sender.purchase(f"{order_id}-p", order_id, 2)
    sender.flush()


def failures() -> float:
    return counted("failures_total")


def counted(metric: str, watch: str = "over-purchase") -> float:
    return REGISTRY.get_sample_value(f"aldebaran_auditor_{metric}", {"watch": watch}) or 0.0
