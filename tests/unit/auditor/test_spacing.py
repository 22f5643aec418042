"""White space in SQL means nothing, but within a text and at the end of a comment."""

import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st

from auditor.checkpoints.checkpoint import fingerprint
from auditor.checkpoints.spacing import meant, words
from tests.unit.auditor.batches import STREAMS, WATCHES

WATCH = WATCHES["unusual-volume"]
PIECES = st.sampled_from(
    ["a", "1L", "'x  y'", "'x y'", "`q  i`", "-- c", "/* d */", "'é'", "+", ">=", "=", "b.c"]
)
GAPS = st.sampled_from([" ", "  ", "\n", "\t\n "])
SQL = st.lists(st.tuples(PIECES, GAPS), max_size=8).map(lambda both: "".join(map("".join, both)))


def read(sql: str) -> list[tuple[str, str]]:
    """The model: what Spark's reader is given, without what lies between."""
    tokens = sqlglot.tokenize(sql, read="spark")
    return [(token.token_type.name, token.text) for token in tokens]


@given(SQL, GAPS, st.data())
def test_two_are_one_version_only_if_they_are_read_alike(
    sql: str, gap: str, data: st.DataObject
) -> None:
    """The other one has another gap at one place, or is the same on one line."""
    at = [number for number, sign in enumerate(sql) if sign.isspace()]
    cut = data.draw(st.sampled_from(at)) if at else None
    changed = words(sql) if cut is None else sql[:cut] + gap + sql[cut + 1 :]
    for other in (changed, words(sql)):
        same = (words(sql), meant(sql)) == (words(other), meant(other))
        assert same == (read(sql) == read(other) and words(sql) == words(other))


@pytest.mark.parametrize(
    "sql", ["SELECT a FROM t", " SELECT\n\ta /* why */\n FROM t", "SELECT 'a b', 1L FROM t"]
)
def test_what_one_line_tells_whole_keeps_its_folder_of_earlier_releases(sql: str) -> None:
    assert meant(sql) == ""
    assert fingerprint(WATCH.model_copy(update={"sql": sql}), STREAMS, 2).white_space == ""


TRAPS = [
    ("SELECT a -- why\nFROM t", "SELECT a -- why FROM t"),
    ("SELECT 'a  b' FROM t", "SELECT 'a b' FROM t"),
    ("SELECT 'a\nb' FROM t", "SELECT 'a b' FROM t"),
    ("SELECT a -- b\n, c FROM t", "SELECT a -- b , c\nFROM t"),
]


@pytest.mark.parametrize(("sql", "other"), TRAPS)
def test_what_is_read_otherwise_is_a_changed_rule(sql: str, other: str) -> None:
    one, two = (
        fingerprint(WATCH.model_copy(update={"sql": text}), STREAMS, 2) for text in (sql, other)
    )
    assert one.differences(two) == ["white space"]
    assert one.id != two.id


def test_white_space_beside_them_still_does_not_count() -> None:
    sql = "SELECT a, -- why\n  'x  y' FROM t"
    other = "SELECT a,   -- why\n\n'x  y'\n FROM t\n"
    assert (words(sql), meant(sql)) == (words(other), meant(other))
    assert meant(sql) != ""
