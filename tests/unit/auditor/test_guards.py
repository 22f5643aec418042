"""What is refused before a query starts, and what the refusal says."""

import pytest
from pyspark.sql.types import (
    ArrayType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from auditor.guards import check_columns, check_slots, check_sql, slots_needed
from services.backbone.errors import Refused
from tests.unit.auditor.batches import WATCHES

WATCH = WATCHES["over-purchase"]


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
    ],
)
def test_sql_that_is_not_one_select_of_its_streams(sql: str, said: str) -> None:
    with pytest.raises(Refused) as refused:
        check_sql(WATCH.model_copy(update={"sql": sql}))
    assert said in str(refused.value)


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
