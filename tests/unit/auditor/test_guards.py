"""What is refused before a query starts, and what the refusal says."""

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.types import (
    ArrayType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from auditor.queries.guards import check_columns, check_sql
from auditor.queries.refusals import judgement
from auditor.queries.slots import check_slots, slots_needed, with_another
from services.backbone.errors import Refused, Transient
from tests.unit.auditor.batches import WATCHES

WATCH = WATCHES["over-purchase"].model_copy(update={"book": None})


@pytest.mark.parametrize("name", WATCHES)
def test_shipped_sql_is_taken(name: str) -> None:
    check_sql(WATCHES[name])


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("", "the SQL must be one SELECT, it is: nothing"),
        ("SELECT 1 FROM trades; SELECT 2 FROM trades", "it is: SELECT, SELECT"),
        ("DROP TABLE trades", "it is: DROP"),
        ("INSERT INTO trades SELECT * FROM trades", "it is: INSERT"),
        ("SET spark.sql.ansi.enabled = false", "it is: SET"),
        ("CREATE TABLE x AS SELECT * FROM trades", "it is: CREATE"),
        ("SELECT * FROM secrets", "the SQL reads secrets; add it to `streams`"),
        ("SELECT (((", "the SQL cannot be read"),
        ("SELECT map('a', shares, 'b') AS m FROM trades", "the SQL cannot be read"),
        ("SELECT date_trunc() AS t FROM trades", "the SQL cannot be read"),
        ("SELECT " + "IF(a, 1, " * 60 + "2" + ")" * 60, "the SQL is nested too deep"),
        ("SELECT reflect('java.lang.System', 'getenv', 'HOME') FROM trades", "calls reflect; it"),
        ("SELECT `try_reflect` /* x */ ('a', 'b') FROM trades", "the SQL calls try_reflect"),
        ("SELECT JAVA_METHOD('a', 'b') FROM trades", "the SQL calls java_method"),
        ("SELECT x FROM trades, identifier('y')", "the SQL calls identifier"),
        ("SELECT identifier('ref' || 'lect')('a', 'b') FROM trades", "the SQL cannot be read"),
        ("SELECT * FROM text.`/etc/passwd`", "the SQL reads text./etc/passwd"),
        ("SELECT * FROM text.trades", "the SQL reads text.trades"),
        (
            "WITH `text./etc/passwd` AS (SELECT 1 FROM trades) SELECT * FROM text.`/etc/passwd`",
            "the SQL reads text./etc/passwd",
        ),
        ("SELECT * FROM range(9)", "the SQL reads RANGE(9)"),
        (
            "SELECT 1 -- \\\n{#\n, reflect('a', 'b') -- #}\nFROM trades",
            "the SQL has {# or {% or {{",
        ),
        ("SELECT 1 -- \\\n, shares\nFROM trades", "the SQL has a backslash at the end of a line"),
        ("SELECT 1 /* /*+ */ , reflect('a', 'b') -- */\nFROM trades", "has /* within a comment"),
        ("SELECT TRANSFORM(a) USING 'env' FROM trades", "the SQL calls a program by USING"),
        ("SELECT TRANSFORM(a) using r'env' AS (x) FROM trades", "calls a program by USING"),
    ],
)
def test_sql_that_is_not_one_select_of_its_streams(sql: str, said: str) -> None:
    with pytest.raises(Refused) as refused:
        check_sql(WATCH.model_copy(update={"sql": sql}))
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 FROM trades t JOIN trades u USING (order_id)",
        "SELECT transform(array(1), x -> x + 1) AS xs FROM trades",
        "SELECT /*+ BROADCAST(trades) */ 1 /* one */ FROM trades /* and another */ -- {a}",
        "SELECT 'C:\\\\new', r'\\d{2}' FROM trades",
    ],
)
def test_sql_that_only_looks_so_is_taken(sql: str) -> None:
    check_sql(WATCH.model_copy(update={"sql": sql}))


def test_columns_may_be_named_like_what_is_not_to_be_called() -> None:
    sql = "SELECT reflect, t.identifier, 'reflect(' AS text FROM trades t"
    check_sql(WATCH.model_copy(update={"sql": sql}))


def test_spark_itself_reads_neither_files_nor_the_environment(spark: SparkSession) -> None:
    (row,) = spark.sql("SELECT '${env:PATH}${system:user.dir}' AS kept").collect()
    assert row["kept"] == "${env:PATH}${system:user.dir}"
    with pytest.raises(AnalysisException):
        spark.sql("SELECT * FROM text.`/etc/passwd`")


def test_common_table_expressions_are_taken() -> None:
    sql = "WITH big AS (SELECT * FROM trades) SELECT * FROM big UNION ALL SELECT * FROM big"
    check_sql(WATCH.model_copy(update={"sql": sql}))


COLUMNS = {
    "order_id": StringType(),
    "client": StringType(),
    "stock": StringType(),
    "requested": LongType(),
    "purchased": LongType(),
    "event_ids": ArrayType(StringType()),
    "appended_at": TimestampType(),
}


def schema(**changes: object) -> StructType:
    columns = {name: kind for name, kind in (COLUMNS | changes).items() if kind is not None}
    return StructType([StructField(name, kind) for name, kind in columns.items()])  # type: ignore[arg-type] # the changes are types too


def test_columns_that_fit() -> None:
    check_columns(WATCH, schema())


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"order_id": None}, "does not return order_id; it returns: client, stock"),
        ({"purchased": None}, "does not return purchased"),
        ({"client": None, "stock": None}, "does not return client, stock"),
        ({"appended_at": None}, "does not return appended_at"),
        ({"appended_at": StringType()}, "max(appended_at) AS appended_at"),
        ({"rule": StringType()}, "none of them named rule"),
        ({f"c{i}": StringType() for i in range(60)}, "returns 67 columns, at most 64"),
        ({"a" + "b" * 512: StringType()}, "name the column that begins 'abbb"),
        ({"event_ids": StringType()}, "must be an array of strings, it is string"),
        ({"event_ids": ArrayType(LongType())}, "it is array<bigint>"),
    ],
)
def test_columns_that_do_not_fit(changes: dict[str, object], said: str) -> None:
    with pytest.raises(Refused) as refused:
        check_columns(WATCH, schema(**changes))
    assert said in str(refused.value)


def test_column_twice() -> None:
    doubled = StructType([*schema().fields, StructField("client", StringType())])
    with pytest.raises(Refused, match="two columns of one name"):
        check_columns(WATCH, doubled)


def test_slots_are_counted_over_all_watches() -> None:
    partitions = {"trades": 3, "trades.heartbeat": 1}
    needed = {name: slots_needed(watch, partitions, 2) for name, watch in WATCHES.items()}
    check_slots(needed, 12)
    with pytest.raises(Refused, match=r"12 slots are needed.*there are 11.*AUDITOR_SLOTS=12"):
        check_slots(needed, 11)


def test_a_changed_rule_runs_beside_the_old_one() -> None:
    running = {"one": 5, "two": 7}
    assert with_another(running, "three", 3) == {"one": 5, "two": 7, "three": 3}
    assert with_another(running, "two", 9) == {"one": 5, "two": 7, "two beside itself": 9}


LACKS = [
    "[CONCURRENT_SCHEDULER_INSUFFICIENT_SLOT] Cannot run the pipelined stage group",
    "Lost task 0.0 in stage 1.0: ExecutorLostFailure (executor 1 exited) Reason: exit code 137",
    "java.io.IOException: No space left on device",
    "java.io.IOException: mkdir of file:/tmp/aldebaran-trial-x/commits failed",
]


@pytest.mark.parametrize("text", LACKS)
def test_what_a_trial_lacks_is_no_refusal_of_the_watch(text: str) -> None:
    judged = judgement("w", RuntimeError(text))
    assert isinstance(judged, Transient)
    assert str(judged).startswith("watch w: it could not be tried, ")


def test_any_other_end_of_a_trial_is_a_refusal() -> None:
    judged = judgement("w", RuntimeError("[STREAMING_REAL_TIME_MODE.SINK_NOT_SUPPORTED] no"))
    assert isinstance(judged, Refused)


def test_what_the_sql_quotes_is_no_trouble_of_sparks() -> None:
    quoted = "[UNRESOLVED_COLUMN] x;\nFilter (text#1 = java.lang.OutOfMemoryError)"
    assert isinstance(judgement("w", AnalysisException(quoted)), Refused)
