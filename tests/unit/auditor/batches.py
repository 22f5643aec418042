"""Runs a shipped watch over a finished history, with the same code as the live auditor."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from pyspark.sql import DataFrame, SparkSession

from auditor.queries.formatting import alert_messages
from auditor.queries.logic import findings, valid_events
from services.contracts.records import Alert
from services.contracts.streams import load_streams
from services.contracts.watches import SHIPPED_WATCHES, WatchDeclaration, load_watches
from tests.unit.rows import laid

STREAMS = load_streams()
TRADES = STREAMS["trades"]
WATCHES = load_watches(SHIPPED_WATCHES)
EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "limits" / "client-limit.yaml"
"""A watch with a table of rules."""
HOUR_MS = 3_600_000
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)

RECORDS = "value BINARY, timestamp TIMESTAMP, topic STRING, partition INT"


def example_of_the_page(folder: Path) -> Path:
    """Write the watch that docs/watches.md begins with to a file."""
    page = Path(__file__).parents[3] / "docs" / "watches.md"
    path = folder / "example.yaml"
    path.write_text(page.read_text().split("```yaml\n")[1].split("```")[0])
    return path


@dataclass(frozen=True)
class Event:
    """One trade event and when the broker appended it (milliseconds after EPOCH)."""

    kind: str
    event_id: str
    order_id: str
    shares: int
    at_ms: int
    client: str = "Ann"
    stock: str = "ACME"

    def record(self, topic: str = "trades", partition: int = 0) -> tuple[bytes, datetime, str, int]:
        fields = ("kind", "event_id", "order_id", "shares", "client", "stock")
        value = json.dumps({name: getattr(self, name) for name in fields}).encode()
        return value, EPOCH + timedelta(milliseconds=self.at_ms), topic, partition


def one_job_each(max_examples: int) -> settings:
    """Return settings for examples that each cost a Spark job: shrinking would run many more."""
    return settings(
        max_examples=max_examples,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


def request(order_id: str, shares: int, at_ms: int = 0, **more: Any) -> Event:
    return Event("request", order_id, order_id, shares, at_ms, **more)


def purchase(event_id: str, order_id: str, shares: int, at_ms: int = 0, **more: Any) -> Event:
    return Event("purchase", event_id, order_id, shares, at_ms, **more)


def records(spark: SparkSession, events: Iterable[Event], *raw: Any) -> DataFrame:
    return laid(spark, [*(event.record() for event in events), *raw], RECORDS)


def run(
    spark: SparkSession, watch: WatchDeclaration, rows: DataFrame
) -> list[tuple[str, str, Alert]]:
    """Return (key, topic, alert) of every message."""
    events = valid_events(rows, TRADES, watch.watermark)
    found = findings(spark, watch, STREAMS, {"trades": events})
    messages = alert_messages(found, watch, "a", "")
    return [
        (bytes(row["key"]).decode(), row["topic"], Alert.decode(bytes(row["value"])))
        for row in messages.collect()
    ]


class Stepwise:
    """Runs a watch in micro-batches, one file of events per batch."""

    def __init__(self, spark: SparkSession, watch: WatchDeclaration, folder: Path) -> None:
        self._spark = spark
        self._input = folder / "input"
        self._input.mkdir(exist_ok=True)
        self.checkpoint = folder / "checkpoint"
        source = spark.readStream.schema(RECORDS).parquet(str(self._input))
        events = valid_events(source, TRADES, watch.watermark)
        found = findings(spark, watch, STREAMS, {"trades": events})
        messages = alert_messages(found, watch, "a", "")
        self.query = (
            messages.writeStream.format("memory")
            .queryName("stepwise")
            .outputMode("update")
            .option("checkpointLocation", str(self.checkpoint))
            .start()
        )

    def take(self, *events: Event, raw: Iterable[Any] = ()) -> None:
        """Run a batch."""
        rows = records(self._spark, events, *raw)
        rows.write.mode("append").parquet(str(self._input))
        self.query.processAllAvailable()

    def alerted(self) -> set[str]:
        rows = self._spark.table("stepwise").collect()
        return {json.loads(bytes(row["value"]))["key"]["order_id"] for row in rows}
