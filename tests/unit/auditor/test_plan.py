"""A query is looked at before it starts: what it moves and keeps is what Spark then plans."""

from itertools import chain
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from auditor.queries.declared import Declared, read_watch
from auditor.queries.plan import never_ends, shuffles
from auditor.queries.trial import over_nothing, rows_over_nothing
from auditor.rehearsal.memory import start_in_memory
from services.backbone.clock import SystemClock
from services.contracts.streams import load_streams
from services.contracts.watches import SHIPPED_WATCHES
from tests.unit.auditor.batches import EXAMPLE

pytestmark = pytest.mark.spark

BATCH_MS = 200
EACH = "client, stock, CAST(appended_at AS STRING) AS hour, CAST(shares AS DOUBLE) AS bought"
CASES = {
    "each event": ("SELECT <each>, 5 AS most_shares, appended_at FROM trades", 0),
    "no event twice": ("SELECT DISTINCT <each>, 5 AS most_shares, appended_at FROM trades", 1),
    "events by client": (
        "SELECT <each>, 5 AS most_shares, appended_at FROM trades DISTRIBUTE BY client",
        1,
    ),
    "each event by its rule": (
        "SELECT <each>, most_shares, appended_at FROM trades JOIN rules USING (client, stock)",
        0,
    ),
    "each event, with a rule or without": (
        "SELECT <each>, most_shares, appended_at FROM trades LEFT JOIN rules USING (client, stock)",
        0,
    ),
    "events that a rule names": (
        "SELECT <each>, 5 AS most_shares, appended_at FROM trades "
        "WHERE client IN (SELECT client FROM rules)",
        0,
    ),
    "events that no rule names": (
        "SELECT <each>, 5 AS most_shares, appended_at FROM trades WHERE NOT EXISTS "
        "(SELECT 1 FROM rules WHERE rules.client = trades.client)",
        0,
    ),
    "rules that are grouped": (
        "SELECT <each>, most_shares, appended_at FROM trades JOIN "
        "(SELECT client, max(most_shares) AS most_shares FROM rules GROUP BY client) "
        "USING (client)",
        0,
    ),
    "joined before the GROUP BY": (
        "SELECT client, stock, window.start AS hour, sum(CAST(shares AS DOUBLE)) AS bought, "
        "max(most_shares) AS most_shares, max(appended_at) AS appended_at "
        "FROM trades JOIN rules USING (client, stock) "
        "GROUP BY client, stock, window(appended_at, '1 hour')",
        1,
    ),
    "joined behind the GROUP BY": ("", 1),
}
"""SQL over the example's stream and rules; empty is the example's own, `<each>` is EACH."""


def declared(path: Path, sql: str = "") -> Declared:
    found = read_watch(path, load_streams())
    whole = sql.replace("<each>", EACH)
    watch = found.watch.model_copy(update={"sql": whole} if sql else {})
    return Declared(watch, found.streams, found.rules)


def planned(spark: SparkSession, watch: Declared, folder: Path) -> int:
    """Return how often Spark moves the rows of a watch."""
    return exchanges(executed(spark, watch, folder))


def executed(spark: SparkSession, watch: Declared, folder: Path) -> Any:
    """Run the watch over empty streams for a batch; return Spark's plan of it."""
    spark.conf.set("spark.sql.streaming.realTimeMode.minBatchDuration", "100")
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    texts = over_nothing(spark, watch).select(F.col("value").cast("string"))
    query = start_in_memory(spark, texts, str(folder), BATCH_MS).query
    try:
        while query.isActive and not query.recentProgress:
            SystemClock().wait(Event(), BATCH_MS / 1000)
        assert query.exception() is None
        return query._jsq.streamingQuery().lastExecution().executedPlan()  # noqa: SLF001 - PySpark has no plan of a running query
    finally:
        query.stop()


def exchanges(node: Any) -> int:
    """Count those of the stream: what is broadcast was ready before."""
    name = str(node.nodeName())
    if name == "BroadcastExchange":
        return 0
    children = node.children()
    below = sum(exchanges(children.apply(number)) for number in range(children.size()))
    return below + (name == "Exchange")


@pytest.mark.parametrize("path", sorted(SHIPPED_WATCHES.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_shipped_watch_moves_rows_once(spark: SparkSession, path: Path, tmp_path: Path) -> None:
    apart, watch = spark.newSession(), declared(path)
    assert shuffles(over_nothing(apart, watch)) == planned(apart, watch, tmp_path) == 1


@pytest.mark.parametrize(("sql", "counted"), CASES.values(), ids=CASES)
def test_a_running_query_moves_rows_as_often_as_was_counted(
    spark: SparkSession, sql: str, counted: int, tmp_path: Path
) -> None:
    apart, watch = spark.newSession(), declared(EXAMPLE, sql)
    assert shuffles(over_nothing(apart, watch)) == counted
    assert planned(apart, watch, tmp_path) == counted


ENDING = {
    "windows": ("", True),
    "sliding windows": (
        "SELECT client, stock, 'x' AS hour, 1.0 AS bought, 5 AS most_shares, "
        "max(appended_at) AS appended_at FROM trades "
        "GROUP BY client, stock, window(appended_at, '10 minutes', '5 minutes')",
        True,
    ),
    "the time itself": (
        "SELECT client, stock, 'x' AS hour, 1.0 AS bought, 5 AS most_shares, appended_at "
        "FROM trades GROUP BY client, stock, appended_at",
        True,
    ),
    "each once": ("SELECT DISTINCT <each>, 5 AS most_shares, appended_at FROM trades", True),
    "no window": (
        "SELECT client, stock, 'x' AS hour, 1.0 AS bought, 5 AS most_shares, "
        "max(appended_at) AS appended_at FROM trades GROUP BY client, stock",
        False,
    ),
    "another time": (
        "SELECT client, stock, 'x' AS hour, 1.0 AS bought, 5 AS most_shares, "
        "max(appended_at) AS appended_at FROM trades "
        "GROUP BY client, stock, window(event_time, '1 hour')",
        False,
    ),
    "the hour": (
        "SELECT client, stock, 'x' AS hour, 1.0 AS bought, 5 AS most_shares, "
        "max(appended_at) AS appended_at FROM trades "
        "GROUP BY client, stock, date_trunc('hour', appended_at)",
        False,
    ),
    "the start of a window": (
        "SELECT client, stock, 'x' AS hour, 1.0 AS bought, 5 AS most_shares, "
        "max(appended_at) AS appended_at FROM trades "
        "GROUP BY client, stock, window(appended_at, '1 hour').start",
        False,
    ),
}
"""SQL over the example's stream, and whether Spark drops its groups in time."""


@pytest.mark.parametrize(("sql", "ends"), ENDING.values(), ids=ENDING)
def test_groups_end_where_spark_drops_them(
    spark: SparkSession, sql: str, ends: bool, tmp_path: Path
) -> None:
    apart, watch = spark.newSession(), declared(EXAMPLE, sql)
    assert never_ends(rows_over_nothing(apart, watch)) is not ends
    assert drops_groups(executed(apart, watch, tmp_path)) == [ends]


def drops_groups(node: Any) -> list[bool]:
    """Return for each aggregate of a running query whether it drops what is older than a time."""
    if node.nodeName() == "StatefulStreamlineAggregate":
        return [bool(node.watermarkPredicateForKeysForEviction().isDefined())]
    children = node.children()
    below = (drops_groups(children.apply(number)) for number in range(children.size()))
    return list(chain.from_iterable(below))


def streamed(spark: SparkSession) -> DataFrame:
    return spark.readStream.format("rate").load()


def test_a_join_of_streams_moves_rows(spark: SparkSession) -> None:
    both = streamed(spark).join(streamed(spark), "value")
    assert shuffles(both) == 1
    assert shuffles(both.join(F.broadcast(spark.range(1)), F.col("value") == F.col("id"))) == 1


def test_a_table_that_joins_is_sent_whole(spark: SparkSession) -> None:
    table = spark.range(9).groupBy("id").count()
    assert shuffles(streamed(spark).join(table, F.col("value") == F.col("id"))) == 0
    assert shuffles(table) == 0
