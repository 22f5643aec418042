"""How the command line shows what no watch judged: a line each, and nothing moves the terminal."""

import json
from typing import Any

import pytest

from services.aldebaran.newest import PAGE_ROWS
from services.aldebaran.unjudged import line
from tests.unit.aldebaran.newest_rows import Api, run

ROW: dict[str, Any] = {
    "place": "accounts/0/7", "accounted_id": "a", "at_ms": 4_000, "appended_at_ms": 0,
    "account": "unmatched-purchases", "reason": "never_opened",
    "key": {"order_id": "R-1O", "purchase": "P-7"}, "values": {"client": "Ann", "shares": 30},
    "detail": "",
}  # fmt: skip


def test_a_line_says_what_came_when_and_why_nobody_judged_it() -> None:
    assert line(ROW) == (
        "1970-01-01 00:00:00.000Z unmatched-purchases: never_opened: "
        "order_id=R-1O purchase=P-7 client=Ann shares=30 [listed 1970-01-01 00:00:04.000Z]"
    )


def test_what_is_no_record_of_ours_is_told_with_its_place() -> None:
    foreign = ROW | {"account": "", "reason": "unreadable", "detail": "no record: \x1b[2J\nx"}
    (told,) = run(Api(foreign), "unjudged")
    assert told == "1970-01-01 00:00:00.000Z unreadable: no record: \\x1b[2J\\nx [accounts/0/7]"


MANY = [ROW | {"accounted_id": str(number)} for number in range(PAGE_ROWS + 50)]


@pytest.mark.parametrize("limit", [1, PAGE_ROWS + 1, 10_000])
def test_more_than_a_page_is_told_page_after_page(
    limit: int, capsys: pytest.CaptureFixture[str]
) -> None:
    told = [json.loads(each) for each in run(Api(*MANY), f"unjudged --json --limit {limit}")]
    assert told == MANY[:limit]
    assert ("there may be older ones" in capsys.readouterr().err) == (limit < len(MANY))


def test_where_nothing_is_listed_it_says_who_would_list_it() -> None:
    api = Api()
    (told,) = run(api, "unjudged --contains P-7")
    assert api.asked == [("/v1/unjudged", {"contains": "P-7", "limit": 20})]
    assert told.startswith("# nothing, as far as is kept: accounts of a running archivist list it")
