"""What is shown of an account's row, whatever stands on its topic."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from services.backbone.kafka.consumer import Incoming
from services.console.newest_first import SHOWN_LIMIT_BYTES, UNREADABLE, Searched
from services.console.unjudged import UnjudgedPage, UnjudgedRow, fitting
from services.contracts.ids import accounted_id
from services.contracts.records import Accounted

KEY = {"order_id": "R-1O", "purchase": "P-7"}
ANSWER = TypeAdapter(UnjudgedPage)


def listed(**values: Any) -> Accounted:
    return Accounted(
        accounted_id=accounted_id("unmatched-purchases", KEY.values()),
        account="unmatched-purchases", reason="never_opened", key=KEY, values=values,
        appended_at_ms=1000, accounted_at_ms=5000,
    )  # fmt: skip


def record(value: bytes, offset: int = 7) -> Incoming:
    return Incoming("accounts", 0, offset, None, value, 6000)


def rows(*values: bytes, contains: str = "") -> list[UnjudgedRow]:
    return list(fitting([record(each) for each in values], contains))


def answer(*found: UnjudgedRow) -> bytes:
    return ANSWER.dump_json(UnjudgedPage(found, Searched(len(found), whole=True), None))


def test_a_row_says_what_came_when_and_why_nobody_judged_it() -> None:
    told = listed(client="Ann", shares=30)
    (row,) = rows(told.encode())
    assert (row.place, row.accounted_id) == ("accounts/0/7", told.accounted_id)
    assert (row.appended_at_ms, row.at_ms) == (1000, 5000)
    assert (row.account, row.reason, row.detail) == ("unmatched-purchases", "never_opened", "")
    assert (row.key, row.values) == (KEY, {"client": "Ann", "shares": 30})


@pytest.mark.parametrize(
    ("text", "is_there"),
    [
        ("", True), ("R-1O", True), ("P-7", True), ("never_", True), ("unmatched", True),
        ("Ann B", True), ("3.5", True), ("M\u00fcller", True), ("R-10", False), ("ann b", False),
        ("order_id", False), ("version", False),
    ],
)  # fmt: skip
def test_a_text_is_looked_for_in_what_is_told(text: str, is_there: bool) -> None:
    told = listed(client="Ann Baker", price=3.5, traders=["M\u00fcller"])
    assert bool(rows(told.encode(), contains=text)) == is_there


@given(st.binary(max_size=60))
def test_what_is_no_record_of_ours_is_shown_with_its_beginning(value: bytes) -> None:
    (row,) = rows(value)
    assert (row.reason, row.at_ms, row.account, dict(row.key)) == (UNREADABLE, 6000, "", {})
    assert row.detail.endswith(value.decode(errors="replace"))
    assert answer(row)


def test_a_long_record_that_is_none_of_ours_is_cut() -> None:
    (row,) = rows(b"x" * 3 * SHOWN_LIMIT_BYTES)
    assert SHOWN_LIMIT_BYTES < len(row.detail) < SHOWN_LIMIT_BYTES + 400


def test_numbers_that_json_does_not_have_do_not_stand_in_the_answer() -> None:
    value = listed(shares=7).encode().replace(b":7", b":NaN")
    found = rows(value)
    assert b"NaN" not in answer(*found) or found[0].reason == UNREADABLE
