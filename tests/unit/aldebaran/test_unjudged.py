"""How the command line shows what no watch judged: a line each, and nothing moves the terminal."""

import io
import json
from typing import Any

import pytest

from services.aldebaran.__main__ import carry_out, parser
from services.aldebaran.newest import PAGE_ROWS
from services.aldebaran.unjudged import line
from services.backbone.clock import ManualClock

ROW: dict[str, Any] = {
    "place": "accounts/0/7", "accounted_id": "a", "at_ms": 4_000, "appended_at_ms": 0,
    "account": "unmatched-purchases", "reason": "never_opened",
    "key": {"order_id": "R-1O", "purchase": "P-7"}, "values": {"client": "Ann", "shares": 30},
    "detail": "",
}  # fmt: skip


class Api:
    """A console with so many rows, the newest first."""

    def __init__(self, *rows: dict[str, Any]) -> None:
        self._rows = rows
        self.asked: list[dict[str, Any]] = []

    def ask(self, _: str, path: str, query: dict[str, Any]) -> dict[str, Any]:
        assert path == "/v1/unjudged"
        self.asked.append(query)
        first = int(query.get("cursor", 0))
        end = first + query["limit"]
        further = str(end) if end < len(self._rows) else None
        looked = {"records": query["limit"], "whole": further is None}
        return {"rows": self._rows[first:end], "looked": looked, "next_cursor": further}


def run(api: Any, *arguments: str) -> list[str]:
    out = io.StringIO()
    assert carry_out(parser().parse_args(["unjudged", *arguments]), api, ManualClock(), out) == 0
    return out.getvalue().splitlines()


def test_a_line_says_what_came_when_and_why_nobody_judged_it() -> None:
    assert line(ROW) == (
        "1970-01-01 00:00:00.000Z unmatched-purchases: never_opened: "
        "order_id=R-1O purchase=P-7 client=Ann shares=30 [listed 1970-01-01 00:00:04.000Z]"
    )


def test_what_is_no_record_of_ours_is_told_with_its_place() -> None:
    foreign = ROW | {"account": "", "reason": "unreadable", "detail": "no record: \x1b[2J\nx"}
    (told,) = run(Api(foreign))
    assert told == "1970-01-01 00:00:00.000Z unreadable: no record: \\x1b[2J\\nx [accounts/0/7]"


MANY = [ROW | {"accounted_id": str(number)} for number in range(PAGE_ROWS + 50)]


@pytest.mark.parametrize("limit", [1, PAGE_ROWS + 1, 10_000])
def test_more_than_a_page_is_told_page_after_page(
    limit: int, capsys: pytest.CaptureFixture[str]
) -> None:
    told = [json.loads(each) for each in run(Api(*MANY), "--json", "--limit", str(limit))]
    assert told == MANY[:limit]
    assert ("there may be older ones" in capsys.readouterr().err) == (limit < len(MANY))


def test_where_nothing_is_listed_it_says_who_would_list_it() -> None:
    api = Api()
    (told,) = run(api, "--contains", "P-7")
    assert api.asked == [{"contains": "P-7", "limit": 20}]
    assert told.startswith("# nothing, as far as is kept: accounts of a running archivist list it")
