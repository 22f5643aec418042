"""An archivist as a real process, and readers of what it writes."""

import json
import os
import signal
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from confluent_kafka import Consumer
from pyspark.sql import Row, SparkSession

from archivist.earlier_query import start_rejecting_as_before
from archivist.settings import SHIPPED_ACCOUNTS, ArchivistSettings
from archivist.shelf import archive_ddl, shelved
from engine.events import VALID
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.settings import KafkaSettings
from services.contracts.fields import DATE
from services.contracts.records import Record
from services.contracts.streams import load_stream
from services.contracts.topics import ACCOUNTS, Topic
from tests.integration.auditor.running import Place, Running, from_beginning
from tests.integration.s3 import BUCKET, S3Server
from tests.integration.samples import total

RecordType = TypeVar("RecordType", bound=Record)

SHORT_TIMES = {
    "early: 1 hour ": "early: 2 seconds ",
    "limit: 24 hours": "limit: 1 millisecond",
    "every: 10 minutes": "every: 1 second",
    "look_back: limit + limit": "look_back: 30 minutes",
}


@dataclass
class ArchivePlace(Place):
    """One test's own stream, account, archive and state."""

    @property
    def account(self) -> str:
        return f"unmatched-{self.name}"

    @property
    def archive(self) -> str:
        return str(self.folder / "archive")

    @property
    def settings(self) -> dict[str, object]:
        """What only this kind of place needs."""
        return {}

    def declare_stream(self) -> None:
        """Declare a copy of the shipped stream, and no account: each run of one is Spark's work."""
        self.declare()
        (self.folder / "accounts").mkdir()

    def declare_account(self) -> None:
        """Declare a copy of the shipped account, with times of seconds."""
        text = (SHIPPED_ACCOUNTS / "unmatched-purchases.yaml").read_text()
        own = {
            "account: unmatched-purchases": f"account: {self.account}",
            "streams: [trades]": f"streams: [{self.stream}]",
            "FROM trades": f"FROM {self.stream}",
        }
        for before, after in (SHORT_TIMES | own).items():
            assert before in text
            text = text.replace(before, after)
        (self.folder / "accounts" / "unmatched.yaml").write_text(text)
        settings = KafkaSettings(kafka_bootstrap_servers=self.bootstrap)
        TopicAdmin(settings, "test").declare([Topic(ACCOUNTS)])

    @contextmanager
    def archivist(self, **settings: object) -> Iterator[Running]:
        """Run an archivist in this place; kill what is left of it at the end."""
        own: dict[str, object] = {
            "ARCHIVIST_STREAMS": self.folder / "streams",
            "ARCHIVIST_ACCOUNTS": self.folder / "accounts",
            "ARCHIVIST_ARCHIVE": self.archive,
            "ARCHIVIST_STATE": self.folder / "state",
            "ARCHIVIST_JARS": self.jars,
            "ARCHIVIST_INTERVAL_SECONDS": 1,
            "ARCHIVIST_CLOCK_SLACK_SECONDS": 0.1,
            "ARCHIVIST_NICENESS": 0,
            **self.settings,
        }
        environment = self.environment(**(own | settings))
        running = Running(environment, self.folder / "archivist.log", "archivist")
        try:
            yield running
        finally:
            kill_all(running)

    def archive_as_before(self, spark: SparkSession, records_per_batch: int) -> None:
        """Archive all that is on the topic as versions before did: by Spark's file sink."""
        records = (
            spark.readStream.format("kafka")
            .option("kafka.bootstrap.servers", self.bootstrap)
            .option("subscribe", self.stream)
            .option("startingOffsets", "earliest")
            .option("maxOffsetsPerTrigger", records_per_batch)
            .load()
        )
        stream = load_stream(self.folder / "streams" / "trades.yaml")
        query = (
            shelved(records, stream)
            .where(VALID)
            .drop(VALID)
            .coalesce(1)
            .writeStream.format("parquet")
            .partitionBy(DATE)
            .option("path", f"{self.archive}/{self.stream}")
            .option("checkpointLocation", str(self.checkpoint))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()

    def keep_aside_as_before(self, spark: SparkSession) -> None:
        """Keep aside what is no event as versions before did: by a query of its own."""
        state = self.folder / "state"
        settings = ArchivistSettings(kafka_bootstrap_servers=self.bootstrap, archivist_state=state)
        stream = load_stream(self.folder / "streams" / "trades.yaml")
        start_rejecting_as_before(spark, settings, stream).awaitTermination()

    @property
    def checkpoint(self) -> Path:
        """Where it says how far the stream was archived."""
        return self.folder / "state" / "archive" / self.stream

    def archived(self, spark: SparkSession) -> list[Row]:
        """Return every row of the stream's archive, as any reader of Parquet finds them."""
        stream = load_stream(self.folder / "streams" / "trades.yaml")
        rows = spark.read.schema(archive_ddl(stream)).parquet(f"{self.archive}/{self.stream}")
        return rows.collect()


@dataclass
class StorePlace(ArchivePlace):
    """A place whose archive is in an object store."""

    store: S3Server = field(kw_only=True)
    s3_jars: Path = field(kw_only=True)

    @property
    def archive(self) -> str:
        return f"s3a://{BUCKET}/{self.name}"

    @property
    def settings(self) -> dict[str, object]:
        return {
            "S3_JARS": self.s3_jars,
            "S3_OPTIONS": json.dumps(self.store.options),
        }


def kill_all(running: Running) -> None:
    """Kill -9 the program and its JVM at once, as the end of a container does."""
    if running.process.poll() is None:
        os.killpg(running.process.pid, signal.SIGKILL)
    running.process.wait(10)


def metric(running: Running, name: str, **labels: str) -> float:
    """Return the sum of a metric's samples that carry these labels."""
    return total(running.ask("/metrics")[1], name, **labels)


class Reader:
    """Reads a topic from its beginning, again and again."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        config = {"bootstrap.servers": bootstrap, "group.id": f"test-{uuid.uuid4().hex}"}
        self._client = Consumer({**config, "enable.auto.commit": False})
        from_beginning(self._client, topic)
        self._values: list[bytes] = []

    def read(self, kind: type[RecordType]) -> list[RecordType]:
        """Return all records so far."""
        while message := self._client.poll(0.1):
            assert message.error() is None
            self._values.append(message.value() or b"")
        return [kind.decode(value) for value in self._values]
