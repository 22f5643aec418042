"""A line of an export is no formula, whatever a spreadsheet takes for the end of a cell."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.console.api.exports import _line

NASTY = st.text(st.sampled_from("=+-@\uff1d\t\r\n;, \"'a1"), max_size=30)


def cells(line: str, separator: str) -> list[str]:
    rows = csv.reader(io.StringIO(line, newline=""), delimiter=separator)
    return [cell for row in rows for cell in row]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@given(st.lists(NASTY | st.integers(0), max_size=4))
def test_no_cell_is_a_formula(separator: str, values: list[str | int]) -> None:
    for cell in cells(_line(list(values)), separator):
        assert not cell.strip(' \t\r\n"').startswith(("=", "+", "-", "@", "\uff1d")), cell


@given(
    st.lists(st.text(st.characters(exclude_characters="=+-@\uff1d\uff0b\uff0d\uff20")), min_size=2)
)
def test_what_can_be_no_formula_stays_as_it_is(values: list[str]) -> None:
    assert cells(_line(list(values)), ",") == values


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("shop x;=cmd|' /C calc'!A0", "shop x;'=cmd|' /C calc'!A0"),
        ('a, b; "=1+1', "a, b; \"'=1+1"),
        ('\t "=1', "\t \"'=1"),
        ("x;-2+3+cmd|' /C calc'!A0", "x;'-2+3+cmd|' /C calc'!A0"),
        ("a=b - c; d-e", "a=b - c; d-e"),
        ({"at": ";=1"}, "{'at': ';'=1'}"),
        (-5, "-5"),
    ],
)
def test_an_apostrophe_stands_where_a_formula_could_begin(value: object, written: str) -> None:
    assert cells(_line([value]), ",") == [written]
