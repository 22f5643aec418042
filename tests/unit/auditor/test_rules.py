"""Tables of rules: what a file may say, how clearly a wrong one is refused, what the SQL sees."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from auditor.queries.declared import read_watch
from auditor.queries.query import messages_of
from auditor.queries.rules import Row, read_rules, table
from services.contracts.declarations import BadDeclaration
from services.contracts.records import Alert
from services.contracts.streams import load_streams
from services.contracts.watches import RulesDeclaration
from tests.unit.auditor.batches import EXAMPLE, purchase, records

DECLARED = RulesDeclaration(
    file="limits.csv",
    columns={"name": "string", "most": "bigint", "part": "double", "on": "boolean"},
)


def written(folder: Path, text: str) -> Path:
    (folder / "limits.csv").write_text(text)
    return folder


def test_fields_have_their_types_and_empty_is_null(tmp_path: Path) -> None:
    text = 'name,most,part,on\n"a, b",7,0.5,True\n,,,\n'
    assert read_rules(DECLARED, written(tmp_path, text)) == (
        ("a, b", 7, 0.5, True),
        (None, None, None, None),
    )


def test_a_file_as_excel_saves_it_is_read(tmp_path: Path) -> None:
    text = "name,most,part,on\r\na,7,0.5,TRUE\r\n"
    (tmp_path / "limits.csv").write_bytes(text.encode("utf-8-sig"))
    assert read_rules(DECLARED, tmp_path) == (("a", 7, 0.5, True),)


WRONG = [
    ("", "line 1: the header must be name,most,part,on"),
    ("most,name,part,on\n", "line 1: the header must be"),
    ("name,most,part,on\na,1,1\n", "line 2: 3 fields, there must be 4"),
    ("name,most,part,on\na,1,1,true\nb,many,1,true\n", "line 3: most: 'many' is no bigint"),
    ("name,most,part,on\na,9223372036854775808,1,true\n", "is no bigint"),
    ("name,most,part,on\na,1_000,1,true\n", "line 2: most: '1_000' is no bigint"),
    ("name,most,part,on\na,1,1_0.5,true\n", "line 2: part: '1_0.5' is no double"),
    ("name,most,part,on\na,1,nan,true\n", "part: 'nan' is no double"),
    ("name,most,part,on\na,1,1,maybe\n", "on: 'maybe' is no boolean"),
    ('name,most,part,on\n"a,1,1,true\n', "limits.csv: "),
]


@pytest.mark.parametrize(("text", "said"), WRONG)
def test_wrong_file_is_refused_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadDeclaration, match=r"limits\.csv") as refused:
        read_rules(DECLARED, written(tmp_path, text))
    assert said in str(refused.value)


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadDeclaration, match=r"limits\.csv: .*No such file"):
        read_rules(DECLARED, tmp_path)


ROWS = st.lists(
    st.tuples(
        st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8),
        st.integers(-(2**63) + 1, 2**63 - 1),
        st.floats(allow_nan=False, allow_infinity=False, width=32),
        st.booleans(),
    ),
    max_size=6,
)


@given(ROWS)
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_sql_sees_every_row_as_written(
    spark: SparkSession, tmp_path: Path, rows: list[Row]
) -> None:
    text = io.StringIO()
    csv.writer(text).writerows([list(DECLARED.columns), *rows])
    (tmp_path / "limits.csv").write_text(text.getvalue(), newline="")
    read = read_rules(DECLARED, tmp_path)
    assert read == tuple(rows)
    assert [tuple(row) for row in table(spark, DECLARED, read).collect()] == rows


def test_one_task_reads_the_table(spark: SparkSession) -> None:
    assert table(spark, DECLARED, []).rdd.getNumPartitions() == 1


def test_each_group_is_held_to_its_own_rule(spark: SparkSession) -> None:
    declared = read_watch(EXAMPLE, load_streams())
    events = [
        purchase("p1", "o", 100, client="Carter & Co"),
        purchase("p2", "o", 1, client="Carter & Co"),
        purchase("p3", "o", 4999, client="Baker Fund"),
        purchase("p4", "o", 10**9, client="Nobody's limit"),
    ]
    messages = messages_of(spark, declared, lambda _: records(spark, events), "a").collect()
    alerts = [Alert.decode(bytes(row["value"])) for row in messages]
    assert [alert.key["client"] for alert in alerts] == ["Carter & Co"]
    assert "101 of ACME within the hour, 100 are allowed" in alerts[0].summary
