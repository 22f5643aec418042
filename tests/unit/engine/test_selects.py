"""SQL is judged as Spark has read it: what any other parser overlooks does not run either."""

from pathlib import Path

import pytest
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import SparkSession

from auditor.queries.declared import Declared, read_watch
from auditor.queries.trial import over_nothing
from engine.queries import check_select
from engine.selects import selected, value
from services.backbone.errors import Refused
from services.contracts.streams import load_streams
from services.contracts.watches import BookDeclaration
from tests.unit.auditor.batches import TRADES, WATCHES, example_of_the_page

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[3]

CALL = "reflect('java.lang.System', 'getenv', 'HOME')"

OVERLOOKED = {
    "a comment that goes on, a comment of templates": (
        f"SELECT shares -- \\\n{{#\n, {CALL} AS x\n-- #}}\nFROM trades",
        "the SQL calls reflect; it may read events only",
    ),
    "a table behind them": (
        "SELECT shares -- \\\n{#\nFROM text.`/etc/passwd` -- #} -- \\\nFROM trades",
        "the SQL reads text./etc/passwd",
    ),
    "a hint within a comment": (
        f"SELECT shares /* /*+ */ , {CALL} AS x -- */\nFROM trades",
        "the SQL calls reflect",
    ),
    "a program of the machine": (
        "SELECT c.x FROM trades JOIN "
        "(SELECT TRANSFORM(a) USING 'env' AS (x STRING) FROM VALUES (1) AS v(a)) c ON true",
        "the SQL has ScriptTransformation in it; it must be one SELECT",
    ),
    "the same under MAP": (
        "SELECT x FROM (FROM trades MAP shares USING 'env' AS x) c",
        "the SQL has ScriptTransformation",
    ),
}
"""SQL that was taken for harmless, or may be by another parser; and what is said of it."""

REFUSED = {
    "SELECT system.builtin.reflect('a', 'b') AS x FROM trades": "calls system.builtin.reflect",
    "SELECT `REFLECT`('a', 'b') AS x FROM trades": "calls REFLECT",
    "SELECT shares FROM trades WHERE EXISTS (SELECT java_method('a', 'b'))": "calls java_method",
    "WITH a AS (SELECT try_reflect('a', 'b') AS x) SELECT x FROM a": "calls try_reflect",
    "SELECT transform(array(1), x -> reflect('a', 'b')) FROM trades": "calls reflect",
    "SELECT sum(shares) OVER (ORDER BY reflect('a', 'b')) FROM trades": "calls reflect",
    "SELECT max(shares) FILTER (WHERE reflect('a', 'b') = '') FROM trades": "calls reflect",
    "SELECT x FROM VALUES (reflect('a', 'b')) AS v(x)": "calls reflect",
    "SELECT shares FROM trades LIMIT length(reflect('a', 'b'))": "calls reflect",
    "SELECT x FROM trades LATERAL VIEW reflect('a', 'b') t AS x": "calls reflect",
    "SELECT /*+ REPARTITION(reflect('a', 'b')) */ 1 FROM trades": "calls reflect",
    "SELECT mask(str => reflect('a', 'b')) FROM trades": "calls reflect",
    "SELECT IDENTIFIER('reflect')('a', 'b') FROM trades": "calls identifier",
    "SELECT IDENTIFIER('ref' || 'lect')('a', 'b') FROM trades": "calls identifier",
    "SELECT from_xml('<a/>', 'a INT', map('rowValidationXSDPath', '/x'))": "calls from_xml",
    "SELECT x FROM missing": "reads missing; add it to `streams`",
    "SELECT * FROM IDENTIFIER('tex' || 't.`/etc/passwd`')": "has PlanWithUnresolvedIdentifier",
    "SELECT * FROM IDENTIFIER('text.`/etc/passwd`')": "reads text./etc/passwd",
    "SELECT * FROM explode(TABLE(text.`/etc/passwd`))": "reads text./etc/passwd",
    "SELECT * FROM STREAM trades": "has NamedStreamingRelation",
    "SELECT * FROM text.`/etc/passwd`": "reads text./etc/passwd",
    "SELECT * FROM trades WITH ('path' = '/etc/passwd')": "reads trades",
    "SELECT * FROM range(9)": "calls range",
    "SELECT * FROM python_worker_logs()": "calls python_worker_logs",
    "SELECT * FROM trades VERSION AS OF 1": "has RelationTimeTravel",
    "CREATE TABLE x AS SELECT 1": "has CreateTableAsSelect",
    "CREATE TEMPORARY FUNCTION f AS 'java.lang.System'": "has ",
    "INSERT OVERWRITE DIRECTORY '/tmp/x' USING json SELECT * FROM trades": "has InsertIntoDir",
    "FROM trades INSERT INTO x SELECT *": "has InsertIntoStatement",
    "SET spark.sql.ansi.enabled = false": "has SetCommand",
    "ADD JAR '/tmp/x.jar'": "has AddJarsCommand",
    "EXECUTE IMMEDIATE 'SELECT 1'": "has UnresolvedExecuteImmediate",
    "DECLARE x = 1": "has CreateVariable",
    "BEGIN SELECT 1; END": "has CompoundBody",
}

TAKEN = (
    "SELECT DISTINCT order_id AS o, * FROM trades t WHERE shares BETWEEN 1 AND :limit",
    "SELECT count(*) FROM trades GROUP BY window(appended_at, :span) HAVING max(shares) > 1",
    "WITH a AS (SELECT shares AS s FROM trades), b AS (SELECT * FROM A) SELECT s FROM b",
    "WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a WHERE x < 3) SELECT x FROM a",
    "SELECT * FROM trades JOIN TRADES u USING (order_id)",
    "SELECT shares FROM trades UNION ALL SELECT 1 EXCEPT SELECT 2 INTERSECT SELECT 3",
    "SELECT x FROM trades LATERAL VIEW explode(array(shares)) t AS x",
    "SELECT x FROM trades, LATERAL explode(array(shares)) AS t(x)",
    "SELECT x FROM trades, LATERAL (SELECT shares + 1 AS x)",
    "SELECT * FROM VALUES (1, 'a'), (2, upper('b')) AS v(x, y)",
    "SELECT /*+ BROADCAST(u) */ 1 FROM trades t JOIN trades u ON t.shares = u.shares",
    "SELECT order_id, sum(shares) AS s FROM trades GROUP BY CUBE (order_id) ORDER BY s LIMIT 3",
    "SELECT rank() OVER w AS r FROM trades WINDOW w AS (ORDER BY shares) QUALIFY r < 3",
    "SELECT * FROM (SELECT order_id, shares FROM trades) PIVOT (sum(shares) FOR order_id IN ('a'))",
    "SELECT exists(array(1), x -> x > 0) AND shares IN (SELECT 1) AND (SELECT true) FROM trades",
    "SELECT CASE WHEN shares > 0 THEN EXTRACT(HOUR FROM appended_at) END FROM trades",
    "SELECT event_id::STRING || 'it\\'s', named_struct('a', 1).a, array(1)[0] FROM trades",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY shares) FROM trades",
    "FROM trades |> WHERE shares > 1 |> SELECT shares",
    "(TABLE trades) UNION DISTINCT (SELECT * FROM trades TABLESAMPLE (5 PERCENT))",
    "SELECT order_id FROM trades DISTRIBUTE BY order_id SORT BY order_id",
    "SELECT count(*) FROM trades GROUP BY GROUPING SETS ((order_id), ()) LIMIT ALL OFFSET 1",
    "SELECT * FROM (SELECT 1 AS a, 2 AS b) UNPIVOT (x FOR name IN (a, b))",
)

NOT_CALLED = {
    *("reflect", "try_reflect", "java_method"),
    *("from_xml", "schema_of_xml", "from_avro", "to_avro", "schema_of_avro"),
    *("from_protobuf", "to_protobuf"),
    *("input_file_name", "input_file_block_start", "input_file_block_length"),
    *("current_user", "session_user", "user"),
    *("current_catalog", "current_database", "current_path", "current_schema"),
    *("range", "python_worker_logs", "case"),  # tables of Spark's own, and what is no function
}


@pytest.fixture(autouse=True)
def trades(spark: SparkSession) -> None:
    columns = "order_id STRING, event_id STRING, shares BIGINT, appended_at TIMESTAMP"
    spark.createDataFrame([], columns).createOrReplaceTempView("trades")


def judged(spark: SparkSession, sql: str) -> None:
    selected(spark, "it", sql, ["trades"], {"limit": 3, "span": "60000 milliseconds"})


@pytest.mark.parametrize("name", OVERLOOKED)
def test_what_other_parsers_overlook_does_not_run(spark: SparkSession, name: str) -> None:
    sql, said = OVERLOOKED[name]
    with pytest.raises(Refused) as refused:
        judged(spark, sql)
    assert said in str(refused.value)


@pytest.mark.parametrize("name", OVERLOOKED)
def test_it_is_refused_before_spark_sees_it(name: str) -> None:
    with pytest.raises(Refused):
        check_select("it", OVERLOOKED[name][0], ["trades"])


@pytest.mark.parametrize("sql", REFUSED)
def test_all_but_a_select_of_the_streams_is_refused(spark: SparkSession, sql: str) -> None:
    with pytest.raises(Refused) as refused:
        judged(spark, sql)
    assert f"it: the SQL {REFUSED[sql]}" in str(refused.value)


@pytest.mark.parametrize("sql", TAKEN)
def test_a_select_of_the_streams_is_taken(spark: SparkSession, sql: str) -> None:
    judged(spark, sql)


def test_a_parameter_stays_a_value(spark: SparkSession) -> None:
    given = f"it's \\' OR \" -- \\\n{CALL}"
    (row,) = selected(spark, "it", "SELECT :given AS x", [], {"given": given}).collect()
    assert row["x"] == given


def test_what_spark_cannot_read_it_says_itself(spark: SparkSession) -> None:
    with pytest.raises(ParseException):
        judged(spark, "SELECT (((")
    with pytest.raises(AnalysisException, match="UNBOUND_SQL_PARAMETER"):
        judged(spark, "SELECT :missing FROM trades")


def test_functions_that_may_not_be_called(spark: SparkSession) -> None:
    """A later Spark has more: look at each before this list grows."""
    names = [each.name for each in spark.catalog.listFunctions() if each.name.isidentifier()]
    assert len(names) > 400
    assert {name for name in names if not may_call(spark, name)} == NOT_CALLED


def may_call(spark: SparkSession, name: str) -> bool:
    try:
        value(spark, "it", f"`{name}`(1)")
    except Refused:
        return False
    return True


@pytest.mark.parametrize("written", ["reflect('a', 'b')", "(SELECT max(shares) FROM trades)"])
def test_a_book_keeps_values_of_an_event_only(spark: SparkSession, written: str) -> None:
    kept = BookDeclaration(kept="1 hour", events={"x": written})
    watch = WATCHES["over-purchase"].model_copy(update={"book": kept, "sql": "SELECT 1 FROM book"})
    with pytest.raises(Refused, match="book: x: the SQL"):
        over_nothing(spark, Declared(watch, {"trades": TRADES}))


def test_what_is_declared_and_documented_is_taken(spark: SparkSession, tmp_path: Path) -> None:
    files = [
        *(ROOT / "spark-apps" / "auditor" / "watches").glob("*.yaml"),
        *(ROOT / "docs" / "examples" / "limits").glob("*.yaml"),
        *(ROOT / "tests" / "bench" / "watches").rglob("*.yaml"),
        example_of_the_page(tmp_path),
    ]
    assert len(files) > 5
    for file in files:
        over_nothing(spark, read_watch(file, load_streams()))
