"""A killed archivist loses nothing, writes no event twice, and finds what no watch judged."""

import json
import os
import shutil
import time
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from services.contracts.records import Accounted, Rejected
from services.contracts.topics import ACCOUNTS, rejected
from tests.integration.archivist.running import ArchivePlace, Reader, kill_all, metric
from tests.integration.auditor.running import Running, Sender, delete_all, wait_for
from tests.said import said

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

BATCH = 100


def send(sender: Sender, start: int, stop: int) -> None:
    """Every tenth is no event; all others open a book of their own."""
    for number in range(start, stop):
        if number % 10 == 7:
            sender.raw(b"{broken %d" % number, key=f"r{number}")
        else:
            sender.request(f"r{number}", number + 1)
    sender.flush()


def batches(running: Running) -> float:
    return metric(running, "aldebaran_archivist_batches_total")


def archived(running: Running) -> float:
    return metric(running, "aldebaran_archivist_archived_total")


def test_nothing_is_lost_or_doubled_by_a_kill(place: ArchivePlace, spark: SparkSession) -> None:
    sender = Sender(place)
    send(sender, 0, 1500)
    with place.archivist(ARCHIVIST_RECORDS_PER_BATCH=BATCH) as first:
        wait_for("some batches are committed", lambda: batches(first) >= 3)
        kill_all(first)
    send(sender, 1500, 2000)
    kept_aside = Reader(place.bootstrap, rejected(place.stream))
    numbers = range(2000)
    broken = {b"{broken %d" % number for number in numbers if number % 10 == 7}
    opened = {f"r{number}": number + 1 for number in numbers if number % 10 != 7}
    with place.archivist() as second:
        wait_for(
            "all that is no event is kept aside",
            lambda: broken <= {record.original for record in kept_aside.read(Rejected)},
        )
        wait_for("the rest is archived", lambda: len(place.archived(spark)) >= len(opened))
        assert second.ask("/healthz/live")[0] == 200
        assert second.terminate() == 0, second.log()[-3000:]
    rows = place.archived(spark)
    assert len(rows) == len({(row["_partition"], row["_offset"]) for row in rows})
    assert len(rows) == len(opened)
    assert {row["order_id"]: row["shares"] for row in rows} == opened
    assert all(json.loads(row["_value"])["order_id"] == row["order_id"] for row in rows)
    assert {bytes(row["_key"]).decode() for row in rows} == set(opened)
    assert {row["date"] for row in rows} == {row["appended_at"].date() for row in rows}
    again = kept_aside.read(Rejected)
    assert {record.original for record in again} == broken
    assert len({record.source for record in again}) == len(broken)


@pytest.mark.long
def test_what_a_version_before_archived_is_continued(
    place: ArchivePlace, spark: SparkSession
) -> None:
    sender = Sender(place)
    for number in range(120):
        sender.request(f"r{number}", 1)
    sender.flush()
    place.archive_as_before(spark, records_per_batch=10)
    folder = Path(place.archive) / place.stream
    assert any((folder / "_spark_metadata").glob("*.compact"))
    # As if it had been killed after its last batch, and once before: told of none, and left.
    last = max(int(path.name) for path in (place.checkpoint / "commits").glob("[0-9]*"))
    for name in (str(last), f".{last}.crc"):
        (place.checkpoint / "commits" / name).unlink()
    file = next(folder.glob("date=*/part-*.parquet"))
    shutil.copy(file, file.with_name("part-of-a-killed-batch.parquet"))
    for number in range(120, 150):
        sender.request(f"r{number}", 1)
    sender.flush()
    with place.archivist() as running:
        wait_for("the rest is archived", lambda: archived(running) >= 30)
        assert running.terminate() == 0, running.log()[-3000:]
    found = Counter(row["order_id"] for row in place.archived(spark))
    assert found == Counter(f"r{number}" for number in range(150))


@pytest.mark.long
def test_what_a_version_before_had_not_kept_aside_is_not_left_out(
    place: ArchivePlace, spark: SparkSession
) -> None:
    sender = Sender(place)
    broken = [b"{broken %d" % number for number in range(3)]
    sender.raw(broken[0], key="r0")
    sender.flush()
    place.keep_aside_as_before(spark)
    sender.raw(broken[1], key="r1")
    sender.flush()
    place.archive_as_before(spark, records_per_batch=10)
    sender.raw(broken[2], key="r2")
    sender.flush()
    kept_aside = Reader(place.bootstrap, rejected(place.stream))

    def kept() -> list[bytes]:
        return sorted(record.original for record in kept_aside.read(Rejected))

    before = place.folder / "state" / "rejected"
    assert (before / place.stream).exists()
    with place.archivist() as running:
        wait_for("the query before is over", lambda: not list(before.iterdir()))
        assert set(kept()) == set(broken)
        # The last one by both: the version before had neither archived it nor kept it aside.
        wait_for("one query does both", lambda: kept() == sorted([*broken, broken[2]]))
        assert running.terminate() == 0, running.log()[-3000:]


def test_why_a_batch_cannot_be_filed_is_told(place: ArchivePlace) -> None:
    sender, folder = Sender(place), Path(place.archive) / place.stream
    folder.mkdir(parents=True)
    (folder / "_batches").write_text("in the way")
    send(sender, 0, 5)
    with place.archivist() as running:
        wait_for("it is told", lambda: '"job_failed"' in running.log())
        reasons = [line["reason"] for line in said(running.log(), "job_failed")]
        assert "_batches" in reasons[0]
        (folder / "_batches").unlink()
        wait_for("it goes on", lambda: archived(running) >= 5)
        assert running.terminate() == 0, running.log()[-3000:]


def test_an_archive_that_is_not_where_it_was_is_told(place: ArchivePlace) -> None:
    sender = Sender(place)
    send(sender, 0, 5)
    with place.archivist() as running:
        wait_for("they are archived", lambda: archived(running) >= 5)
        assert running.terminate() == 0, running.log()[-3000:]
    with place.archivist(ARCHIVIST_ARCHIVE=place.folder / "mistyped") as running:
        assert running.wait() == 78, running.log()[-3000:]
        assert "correct the address or bring back the archive" in running.log()


def test_records_that_are_gone_are_told_with_what_to_decide(place: ArchivePlace) -> None:
    sender = Sender(place)
    send(sender, 0, 5)
    with place.archivist() as running:
        wait_for("they are archived", lambda: archived(running) >= 5)
        assert running.terminate() == 0, running.log()[-3000:]
    send(sender, 10, 15)
    delete_all(place)
    with place.archivist(ARCHIVIST_RESTARTS_MAX=0) as running:
        assert running.wait() == 78, running.log()[-3000:]
        (refused,) = said(running.log(), "refused")
        assert "set ALDEBARAN_ARCHIVIST_FAIL_ON_DATA_LOSS=false" in refused["reason"]


def test_what_no_watch_judged_is_told_with_its_reason(place: ArchivePlace) -> None:
    place.declare_account()
    sender, accounts = Sender(place), Reader(place.bootstrap, ACCOUNTS)
    sender.purchase("early", "in-time", 1)
    sender.request("in-time", 5)
    sender.request("over", 5)
    sender.purchase("lonely", "never", 1)
    sender.flush()
    begun = time.monotonic()
    wait_for("the book's limit is over", lambda: time.monotonic() - begun > 0.05)
    sender.purchase("late", "over", 1)
    sender.flush()

    def found() -> dict[str, str]:
        rows = [row for row in accounts.read(Accounted) if row.account == place.account]
        return {row.key["purchase"]: row.reason for row in rows}

    with place.archivist(ARCHIVIST_NICENESS=3) as running:
        own = os.getpriority(os.PRIO_PROCESS, 0)
        wait_for(
            "it lets others go first",
            lambda: os.getpriority(os.PRIO_PROCESS, running.process.pid) == own + 3,
        )
        wait_for("both rows are found", lambda: len(found()) >= 2)
        assert found() == {"lonely": "never_opened", "late": "ended"}
        sender.purchase("lonely", "never", 1)
        sender.purchase("last", "never", 1)
        sender.flush()
        wait_for("a later row is found too", lambda: "last" in found())
        for reason, rows in {"never_opened": 2, "ended": 1}.items():
            wait_for(
                f"metrics tell {reason}",
                lambda reason=reason, rows=rows: (
                    rows  # type: ignore[misc] # defaults of a lambda
                    == metric(
                        running,
                        "aldebaran_archivist_accounted_total",
                        account=place.account,
                        reason=reason,
                    )
                ),
            )
        assert running.terminate() == 0, running.log()[-3000:]
    told = [row for row in accounts.read(Accounted) if row.account == place.account]
    assert len(told) == len({row.accounted_id for row in told}) == 3
