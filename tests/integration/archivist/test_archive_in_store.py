"""An archive on S3 is as whole as one on a disk, whoever is killed; a wrong address is told."""

import json

import pytest
from pyspark.sql import Row, SparkSession

from services.contracts.records import Accounted
from services.contracts.topics import ACCOUNTS
from tests.integration.archivist.running import Reader, StorePlace, kill_all, metric
from tests.integration.auditor.running import Running, Sender, wait_for
from tests.integration.s3 import BUCKET, IMPATIENT
from tests.said import said

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


def send(sender: Sender, start: int, stop: int) -> None:
    for number in range(start, stop):
        sender.request(f"r{number}", number + 1)
    sender.flush()


def batches(running: Running) -> float:
    return metric(running, "aldebaran_archivist_batches_total")


def failures(running: Running) -> float:
    return metric(running, "aldebaran_archivist_failures_total")


def files(place: StorePlace) -> list[str]:
    """Return the files in the days' folders, as they lie on the store's own disk."""
    stream = place.store.folder / "data" / BUCKET / place.name / place.stream
    return [str(file) for file in stream.glob("date=*/*.parquet")]


def rows(place: StorePlace, spark: SparkSession) -> list[Row]:
    return spark.read.parquet(*there).collect() if (there := files(place)) else []


@pytest.mark.long
def test_nothing_is_lost_or_doubled_by_kills(store_place: StorePlace, spark: SparkSession) -> None:
    place, sender = store_place, Sender(store_place)
    place.declare_account()
    accounts = Reader(place.bootstrap, ACCOUNTS)
    send(sender, 0, 500)
    with place.archivist(ARCHIVIST_RECORDS_PER_BATCH=50) as first:
        wait_for("some batches are committed", lambda: batches(first) >= 3)
        kill_all(first)
    options = json.dumps(place.store.options | IMPATIENT)
    with place.archivist(ARCHIVIST_RECORDS_PER_BATCH=100, S3_OPTIONS=options) as second:
        wait_for("it goes on", lambda: batches(second) >= 1)
        place.store.kill()
        sender.purchase("lonely", "never", 1)
        sender.flush()
        wait_for("the store is missed", lambda: failures(second) >= 1)
        place.store.start()
        wait_for("everything is archived", lambda: len(rows(place, spark)) > 500)
        wait_for("an account has read it", lambda: told(place, accounts) == {"lonely"})
        assert second.terminate() == 0, second.log()[-3000:]
    found = rows(place, spark)
    assert len(found) == len({(row["_partition"], row["_offset"]) for row in found})
    opened = {f"r{number}": number + 1 for number in range(500)}
    assert {row["order_id"]: row["shares"] for row in found} == opened | {"never": 1}


def told(place: StorePlace, accounts: Reader) -> set[str]:
    found = [row for row in accounts.read(Accounted) if row.account == place.account]
    return {str(row.key["purchase"]) for row in found}


def test_a_wrong_key_is_told(store_place: StorePlace) -> None:
    options = json.dumps(store_place.store.options | {"secret.key": "wrong"})
    with store_place.archivist(S3_OPTIONS=options) as running:
        assert running.wait() == 78, running.log()[-3000:]
        assert "give the role or the keys the right" in reason(running)


def test_a_missing_bucket_is_told(store_place: StorePlace) -> None:
    archive = "s3a://no-such-bucket/archive"
    with store_place.archivist(ARCHIVIST_ARCHIVE=archive) as running:
        assert running.wait() == 78, running.log()[-3000:]
        assert "there is no such bucket: create it" in reason(running)


def reason(running: Running) -> str:
    """Return what the program said last, which is why it ended."""
    told = [line["reason"] for line in said(running.log()) if "reason" in line]
    return str(told[-1])
