"""Spark itself judges watches over empty streams: good ones run, others are refused with advice."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from auditor.queries.declared import Declared, read_watch
from auditor.queries.trial import over_nothing, try_beats, try_out
from services.backbone.clock import SystemClock
from services.backbone.errors import Refused, Transient
from services.contracts.streams import SHIPPED_STREAMS, load_streams
from services.contracts.watches import BEAT, SHIPPED_WATCHES, Heartbeat, HeartbeatEvent
from tests.unit.servers import SERVERS

SHIPPED = sorted(SHIPPED_WATCHES.glob("*.yaml"))
EXAMPLES = sorted((SERVERS.parent / "limits").glob("*.yaml"))
OVER_OTHER_STREAMS = sorted(SERVERS.parent.glob("*/watches/*.yaml"))

COLUMNS = "order_id, max(client) AS client, max(stock) AS stock, 1 AS requested, 2 AS purchased"
REST = "collect_set(event_id) AS event_ids, max(appended_at) AS appended_at"

REFUSED = [
    ("SELECT <columns>, max(missing) AS event_ids FROM trades GROUP BY order_id", "column's name"),
    (
        "SELECT <columns>, <rest> FROM trades GROUP BY order_id, "
        "session_window(appended_at, '1 minute')",
        "sliding windows instead of session windows",
    ),
    (
        "SELECT <columns>, max(CAST(shares AS DECIMAL(40,10))) AS n, <rest> FROM trades "
        "GROUP BY order_id",
        "use at most DECIMAL(38",
    ),
    (
        "SELECT <columns>, 999999999999999999999999999999999999999 AS n, <rest> FROM trades "
        "GROUP BY order_id",
        "or DOUBLE",
    ),
    (
        "SELECT <columns>, count(DISTINCT shares) AS n, <rest> FROM trades GROUP BY order_id",
        "approx_count_distinct",
    ),
    ("SELECT <columns>, <rest> FROM trades GROUP BY order_id ORDER BY order_id", "do not sort"),
    ("SELECT <columns>, <rest> FROM trades GROUP BY order_id LIMIT 5", "leave out LIMIT"),
    (
        "SELECT one.order_id, one.client, one.stock, 1 AS requested, 2 AS purchased, "
        "array(two.event_id) AS event_ids, one.appended_at "
        "FROM trades one JOIN trades two ON one.order_id = two.order_id",
        "read each stream once",
    ),
    (  # what the SQL quotes is no trouble of Spark's
        "SELECT one.order_id, one.client, one.stock, 1 AS requested, 2 AS purchased, "
        "array(two.event_id) AS event_ids, one.appended_at "
        "FROM trades one JOIN trades two ON one.order_id = two.order_id "
        "WHERE one.client <> 'No space left on device'",
        "read each stream once",
    ),
]


def declared(path: Path, sql: str = "", streams: Path = SHIPPED_STREAMS) -> Declared:
    found = read_watch(path, load_streams(streams))
    whole = sql.replace("<columns>", COLUMNS).replace("<rest>", REST)
    watch = found.watch.model_copy(update={"sql": whole, "book": None} if sql else {})
    return Declared(watch, found.streams, found.rules)


@pytest.mark.parametrize("path", [*SHIPPED, *EXAMPLES], ids=lambda path: path.stem)
def test_good_watch_can_run(spark: SparkSession, path: Path) -> None:
    try_out(spark, declared(path), SystemClock())


@pytest.mark.parametrize("path", OVER_OTHER_STREAMS, ids=lambda path: path.stem)
def test_good_watch_over_other_streams_can_run(spark: SparkSession, path: Path) -> None:
    try_out(spark, declared(path, streams=path.parent.with_name("streams")), SystemClock())


@pytest.mark.parametrize(
    "path", [*SHIPPED, *EXAMPLES, *OVER_OTHER_STREAMS], ids=lambda path: path.stem
)
def test_good_watch_keeps_its_heartbeat_from_people(spark: SparkSession, path: Path) -> None:
    own = path.parent.with_name("streams")
    streams = own if path in OVER_OTHER_STREAMS else SHIPPED_STREAMS
    try_beats(spark, declared(path, streams=streams), SystemClock())


KEYED_BY_STOCK = """SELECT stock, window(appended_at, :span).start AS hour, sum(shares) AS bought,
  max(appended_at) AS appended_at FROM trades
  GROUP BY stock, window(appended_at, :span) HAVING sum(shares) > :factor"""


def keyed_by_stock(stock: str, shares: int) -> Declared:
    found = declared(SHIPPED_WATCHES / "unusual-volume.yaml", KEYED_BY_STOCK)
    texts = {"kind": "purchase", "event_id": BEAT, "order_id": BEAT, "client": "c", "stock": stock}
    beat = HeartbeatEvent(stream="trades", event={**texts, "shares": shares})
    changed: dict[str, Any] = {"key": ("stock", "hour"), "heartbeat": Heartbeat(events=(beat,))}
    changed |= {"labels": (), "event_ids": None, "summary": "s"}
    return Declared(found.watch.model_copy(update=changed), found.streams)


def test_a_heartbeat_that_would_alert_people_is_refused(spark: SparkSession) -> None:
    watch = keyed_by_stock("BEAT", 11)
    watch.watch.check_streams(dict(watch.streams))
    try_out(spark, watch, SystemClock())
    with pytest.raises(Refused, match=r"heartbeat would alert people, .*\(stock, hour\)"):
        try_beats(spark, watch, SystemClock())


@pytest.mark.parametrize(("stock", "shares"), [(BEAT, 11), ("BEAT", 10)])
def test_a_heartbeat_that_is_no_alert_is_taken(
    spark: SparkSession, stock: str, shares: int
) -> None:
    try_beats(spark, keyed_by_stock(stock, shares), SystemClock())


def test_a_heartbeat_of_a_stream_that_is_not_read_is_taken(spark: SparkSession) -> None:
    found = keyed_by_stock("BEAT", 11)
    other = found.streams["trades"].model_copy(update={"stream": "others"})
    sql = found.watch.sql.replace("FROM trades", "FROM others")
    watch = found.watch.model_copy(update={"streams": ("trades", "others"), "sql": sql})
    try_beats(spark, Declared(watch, {**found.streams, "others": other}), SystemClock())


@pytest.mark.parametrize(("sql", "said"), REFUSED, ids=range(len(REFUSED)))
def test_what_spark_refuses_is_refused(spark: SparkSession, sql: str, said: str) -> None:
    with pytest.raises(Refused, match=r"^watch over-purchase: .*what to do: ") as refused:
        try_out(spark, declared(SHIPPED_WATCHES / "over-purchase.yaml", sql), SystemClock())
    assert said in str(refused.value)


def test_what_cannot_be_handed_to_java_is_a_refusal(spark: SparkSession) -> None:
    found = declared(SHIPPED_WATCHES / "unusual-volume.yaml")
    beyond = {**found.watch.parameters, "factor": 2**63}
    watch = found.watch.model_copy(update={"parameters": beyond})
    with pytest.raises(Refused, match=r"^watch unusual-volume: .*NumberFormatException"):
        over_nothing(spark, Declared(watch, found.streams))


def test_what_spark_refuses_of_a_stream_is_a_refusal(spark: SparkSession) -> None:
    found = declared(SHIPPED_WATCHES / "unusual-volume.yaml")
    trades = found.streams["trades"]
    fields = {**trades.fields, "appended_at": trades.fields["event_time"]}
    taken = trades.model_copy(update={"fields": fields})
    with pytest.raises(Refused, match=r"^watch unusual-volume: .*`appended_at` is ambiguous"):
        over_nothing(spark, Declared(found.watch, {"trades": taken}))


def test_a_trial_without_room_for_its_folder_is_no_refusal(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(**_: object) -> str:
        raise OSError("No space left on device")

    monkeypatch.setattr("engine.scratch.tempfile.mkdtemp", full)
    with pytest.raises(Transient, match="no folder for a trial: No space left"):
        try_out(spark, declared(SHIPPED[0]), SystemClock())


def test_trial_leaves_the_session_as_it_was(spark: SparkSession) -> None:
    before = _seen(spark)
    try_out(spark, declared(SHIPPED[0]), SystemClock())
    assert _seen(spark) == before


def _seen(spark: SparkSession) -> tuple[str | None, list[str], list[str]]:
    """Return settings, views and queries; other tests may have left some of their own."""
    views = sorted(table.name for table in spark.catalog.listTables())
    queries = sorted(str(query.id) for query in spark.streams.active)
    return spark.conf.get("spark.sql.shuffle.partitions"), views, queries
