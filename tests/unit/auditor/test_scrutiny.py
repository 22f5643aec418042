"""What a watch that comes is held to: a key that stays the same, streams that are read."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from auditor.queries.declared import Declared, read_watch
from auditor.queries.guards import check_reads
from auditor.queries.scrutiny import NEVER_ENDS, scrutinize
from services.backbone.errors import Refused
from services.contracts.streams import SHIPPED_STREAMS, load_streams
from services.contracts.watches import SHIPPED_WATCHES
from tests.unit.auditor.batches import EXAMPLE, example_of_the_page
from tests.unit.servers import STREAMS, WATCH_FILE

pytestmark = pytest.mark.spark

REST = (
    "max(region) AS region, max(cpu) AS highest, collect_set(event_id) AS event_ids, "
    "max(appended_at) AS appended_at"
)
GROUPS = "GROUP BY host, window(appended_at, '5 minutes')"


def cpu_high(sql: str = "", streams: tuple[str, ...] = ("server_metrics",)) -> Declared:
    """Return the example of docs/streams.md, or one with other SQL."""
    whole = sql.replace("<rest>", REST).replace("<groups>", GROUPS)
    found = read_watch(WATCH_FILE, STREAMS)
    parts = {"sql": whole, "summary": "{host}"} if sql else {}
    watch = found.watch.model_copy(update={**parts, "streams": streams})
    every = {**STREAMS, **load_streams(SHIPPED_STREAMS)}
    return Declared(watch, {name: every[name] for name in streams})


PASSING = {
    "current_date": "SELECT host, current_date() AS since, <rest> FROM server_metrics <groups>",
    "no call": "SELECT host, current_date AS since, <rest> FROM server_metrics <groups>",
    "uuid": "SELECT host, uuid() AS since, <rest> FROM server_metrics <groups>",
    "rand": "SELECT host, uniform(1, 100) AS since, <rest> FROM server_metrics <groups>",
    "unix_timestamp": "SELECT host, unix_timestamp() AS since, <rest> FROM server_metrics <groups>",
    "localtimestamp": "SELECT host, date_trunc('hour', localtimestamp()) AS since, <rest> "
    "FROM server_metrics <groups>",
    "today": "SELECT host, CAST(' Today ' AS DATE) AS since, <rest> FROM server_metrics <groups>",
    "now": "SELECT host, to_timestamp('now') AS since, <rest> FROM server_metrics <groups>",
    "a subquery's": "SELECT host, day AS since, <rest> FROM "
    "(SELECT *, to_date(now()) AS day FROM server_metrics) <groups>, day",
    "WITH": "WITH dated AS (SELECT *, to_date(now()) AS day FROM server_metrics) "
    "SELECT host, day AS since, <rest> FROM dated <groups>, day",
    "a value by itself": "SELECT host, (SELECT current_date()) AS since, <rest> "
    "FROM server_metrics <groups>",
    "windows of the clock": "SELECT host, w.start AS since, <rest> FROM "
    "(SELECT *, window(now(), '1 hour', '30 minutes') AS w FROM server_metrics) <groups>, w",
    "each of a list": "SELECT host, since, region, cpu AS highest, array(event_id) AS event_ids, "
    "appended_at FROM server_metrics LATERAL VIEW explode(array(current_date())) AS since",
}


@pytest.mark.parametrize("sql", PASSING.values(), ids=PASSING)
def test_a_key_of_the_clock_or_of_chance_is_refused(spark: SparkSession, sql: str) -> None:
    with pytest.raises(Refused, match=r"key must be the same .*since is made of \w+\(\): ") as said:
        scrutinize(spark, cpu_high(sql))
    assert "to_date(min(appended_at))" in str(said.value)


@pytest.mark.parametrize("word", ["DATE 'today'", "timestamp  'Now'", "TIMESTAMP_NTZ'now'"])
def test_a_day_that_is_that_of_the_start_is_refused(spark: SparkSession, word: str) -> None:
    sql = "SELECT host, <word> AS since, <rest> FROM server_metrics <groups>".replace(
        "<word>", word
    )
    with pytest.raises(Refused, match=r"the SQL has (?i:date|timestamp|timestamp_ntz) '"):
        scrutinize(spark, cpu_high(sql))


LASTING = {
    "as it is": "",
    "the day of the events": "SELECT host, to_date(min(appended_at)) AS since, <rest> "
    "FROM server_metrics <groups>",
    "the clock beside the key": "SELECT host, window.start AS since, now() AS told, <rest> "
    "FROM server_metrics <groups>",
    "the clock in a condition": "SELECT host, window.start AS since, <rest> FROM server_metrics "
    "WHERE appended_at > now() - INTERVAL 1 HOUR <groups>",
    "a day that is written": "SELECT host, DATE '2026-01-01' AS since, CAST('today' AS DATE) AS t, "
    "<rest> FROM server_metrics <groups>",
    "a day that is made": "SELECT host, CAST('2026-01-01' AS DATE) AS since, <rest> "
    "FROM server_metrics <groups>",
    "the clock beside sliding windows": "SELECT host, window.start AS since, max(t) AS told, "
    "<rest> FROM (SELECT *, now() AS t FROM server_metrics) "
    "GROUP BY host, window(appended_at, '10 minutes', '5 minutes')",
    "no event twice": "SELECT DISTINCT host, region AS since, region, cpu AS highest, "
    "array(event_id) AS event_ids, appended_at FROM server_metrics",
    "one of many": "SELECT host, any_value(region) AS since, <rest> FROM server_metrics <groups>",
}


@pytest.mark.parametrize("sql", LASTING.values(), ids=LASTING)
def test_a_key_that_events_say_is_taken(spark: SparkSession, sql: str) -> None:
    assert scrutinize(spark, cpu_high(sql)) == []


def test_a_key_over_both_streams_is_refused_where_one_has_the_clock(spark: SparkSession) -> None:
    sql = (
        "SELECT host, since, max(region) AS region, max(cpu) AS highest, "
        "collect_set(event_id) AS event_ids, max(appended_at) AS appended_at FROM ("
        "SELECT host, DATE '2026-01-01' AS since, region, cpu, event_id, appended_at "
        "FROM server_metrics UNION ALL "
        "SELECT client, current_date(), stock, 1.0, event_id, appended_at FROM trades) "
        "GROUP BY host, since, window(appended_at, '5 minutes')"
    )
    with pytest.raises(Refused, match=r"since is made of current_date\(\)"):
        scrutinize(spark, cpu_high(sql, ("server_metrics", "trades")))


ENDLESS = {
    "no window": "SELECT host, max(region) AS since, <rest> FROM server_metrics GROUP BY host",
    "a publisher's clock": "SELECT host, window.start AS since, <rest> FROM server_metrics "
    "GROUP BY host, window(measured_at, '5 minutes')",
    "the hour": "SELECT host, date_trunc('hour', appended_at) AS since, <rest> "
    "FROM server_metrics GROUP BY host, date_trunc('hour', appended_at)",
    "no event twice": "SELECT DISTINCT host, region AS since, region, cpu AS highest, "
    "array(event_id) AS event_ids, date_trunc('hour', appended_at) AS appended_at "
    "FROM server_metrics",
}


@pytest.mark.parametrize("sql", ENDLESS.values(), ids=ENDLESS)
def test_groups_that_never_end_are_told(spark: SparkSession, sql: str) -> None:
    assert scrutinize(spark, cpu_high(sql)) == [NEVER_ENDS]


def test_what_is_shipped_is_taken_without_a_word(spark: SparkSession, tmp_path: Path) -> None:
    for path in (*SHIPPED_WATCHES.glob("*.yaml"), EXAMPLE, example_of_the_page(tmp_path)):
        assert scrutinize(spark, read_watch(path, load_streams())) == []


def test_a_stream_that_is_not_read_is_refused() -> None:
    with pytest.raises(Refused, match="cpu-high: the SQL reads no trades: take it out of"):
        check_reads(cpu_high(streams=("server_metrics", "trades")).watch)
