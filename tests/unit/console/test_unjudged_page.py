"""The page of what no watch judged: what came, who lists it, and why there may be nothing."""

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from types import SimpleNamespace
from typing import Any, Final

import httpx2
import pytest

from services.backbone.clock import SystemClock
from services.backbone.health import Health
from services.console.app import create_app
from services.console.live import Board
from services.console.newest_first import Fitting, Found, Row, Searched, Wanted
from services.console.now import Now
from services.console.pages.unjudged import ARCHIVIST
from services.console.parts.looking import Look, Target
from services.console.parts.samples import samples
from services.console.people.door import Door
from services.console.unjudged import Unjudged
from services.contracts.topics import ACCOUNTS
from tests.unit.console.test_unjudged import listed, record

RUNS: Final = {ARCHIVIST: "http://127.0.0.1:18091"}
JUDGED_UNTIL: Final = "aldebaran_archivist_judged_until_timestamp_seconds"
JUDGED: Final = {"unmatched-purchases": 7.25}
READY: Final[Mapping[str, str]] = {}
NOT_BEGUN: Final = {"rounds": "the first has not begun <yet>"}
NO_ACCOUNT: Final = "No account has judged since the archivist was started, or it has none"
NO_SESSIONS: Any = SimpleNamespace(find=lambda token, *, is_use: None)


class Topic:
    """The accounts' topic, with these records, the newest first."""

    def __init__(self, values: Sequence[bytes]) -> None:
        self._values = values

    def page(self, topic: str, wanted: Wanted, fitting: Fitting[Row]) -> Found[Row]:
        assert topic == ACCOUNTS
        fit = fitting([record(each, 7 - at) for at, each in enumerate(self._values)])
        rows = tuple(islice(fit, wanted.limit))
        return Found(rows, Searched(len(self._values), next(fit, None) is None), None)


def looked(
    trouble: Mapping[str, str] = READY, part: str = ARCHIVIST, judged: Mapping[str, float] = JUDGED
) -> Board:
    """Return what is known after a look at a program: which checks fail, until when it judged."""
    board, target = Board(), Target(part, RUNS[ARCHIVIST], "127.0.0.1:18091")
    told = (f'{JUDGED_UNTIL}{{account="{name}"}} {until}\n' for name, until in judged.items())
    board.publish(Now(0, None, looks=(Look(target, 0.0, trouble, found=samples("".join(told))),)))
    return board


async def asked(
    path: str = "/unjudged",
    values: Sequence[bytes] = (),
    parts: dict[str, str] | None = None,
    board: Board | None = None,
    *,
    is_open: bool = True,
) -> httpx2.Response:
    """Ask a console whose accounts' topic has such records for a page."""
    topic: Any = Topic(values)
    desk: Any = SimpleNamespace(
        health=Health(), clock=SystemClock(), unjudged=Unjudged(topic), board=board or looked(),
        parts=RUNS if parts is None else parts,
    )  # fmt: skip
    transport = httpx2.ASGITransport(create_app(desk, Door(NO_SESSIONS, open_to_readers=is_open)))
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        return await client.get(path)


def words(page: httpx2.Response) -> str:
    """Return what people read of a page's content."""
    main = page.text.partition("<main")[2].partition("</main>")[0]
    return " ".join(re.sub(r"<[^>]*>", " ", main).split())


async def test_a_row_says_which_account_why_what_and_since_when() -> None:
    page = await asked(values=[listed(client="Ann <b>", shares=30).encode()])
    told = words(page)
    for word in (
        "never_opened 1970-01-01 00:00:01.000Z", "order_id R-1O", "purchase P-7",
        "client Ann &lt;b&gt;", "shares 30",
        "by account unmatched-purchases , which listed it 1970-01-01 00:00:05.000Z",
    ):  # fmt: skip
        assert word in told
    assert "archivist is not ready" not in told
    assert "no archivist" not in told


async def test_what_is_no_record_of_ours_is_shown_with_its_place() -> None:
    told = words(await asked(values=[b"<i>x"]))
    assert "unreadable 1970-01-01 00:00:06.000Z this is no record of ours" in told
    assert "&lt;i&gt;x" in told
    assert "accounts/0/7" in told


async def test_of_two_rows_of_one_id_the_older_is_named_as_the_same() -> None:
    """So that nobody takes a row that was told again after a crash for two events."""
    row = listed(client="Ann")
    told = words(await asked(values=[row.encode(), row.encode(), b"x", b"x"]))
    again = f"{row.accounted_id} at accounts/0/6: the same row as above"
    assert (told.count(row.accounted_id), told.count("same row")) == (2, 1)
    assert f"{row.accounted_id} at accounts/0/7" in told.partition(again)[0]
    assert again in told


async def test_a_text_is_looked_for() -> None:
    values = [listed(client=name).encode() for name in ("Ann", "Bob")]
    told = await asked("/unjudged?contains=Bob", values)
    assert ("Bob" in words(told), "Ann" in words(told)) == (True, False)
    assert 'value="Bob"' in told.text
    assert "Nothing fits." in words(await asked("/unjudged?contains=nobody", values))


async def test_where_there_is_more_the_page_says_so() -> None:
    told = words(await asked(values=[listed(client=str(n)).encode() for n in range(21)]))
    assert "These are the newest 20, of 21 records" in told


async def test_nothing_is_listed_where_all_was_judged() -> None:
    told = words(await asked())
    assert "Nothing is listed, as far as its topic keeps." in told
    assert "ALDEBARAN_ARCHIVIST" not in told


@pytest.mark.parametrize("values", [[], [listed().encode()]])
async def test_without_an_archivist_it_says_how_one_is_switched_on(values: list[bytes]) -> None:
    told = words(await asked(values=values, parts={"gateway": "http://127.0.0.1:18081"}))
    assert "knows of no archivist: where none runs, nothing new is listed" in told
    for way in ("archivist.enabled: true", "ALDEBARAN_ARCHIVIST=false", "ALDEBARAN_CONSOLE_PARTS"):
        assert way in told


async def test_of_an_archivist_that_is_not_ready_it_says_why() -> None:
    told = words(await asked(board=looked(NOT_BEGUN)))
    assert "The archivist is not ready: rounds: the first has not begun &lt;yet&gt;" in told


async def test_of_another_program_that_is_not_ready_it_says_nothing() -> None:
    told = words(await asked(board=looked(NOT_BEGUN, "gateway")))
    assert "not ready" not in told
    assert "the first has not begun" not in told


async def test_it_says_until_when_each_account_has_judged() -> None:
    told = words(await asked(board=looked(NOT_BEGUN, judged={"<b>": 3600, **JUDGED})))
    assert "Account &lt;b&gt; has judged what came until 1970-01-01 01:00:00.000Z." in told
    assert "unmatched-purchases has judged what came until 1970-01-01 00:00:07.250Z." in told
    assert NO_ACCOUNT not in told


async def test_an_archivist_that_is_ready_without_an_account_does_not_look_well() -> None:
    told = words(await asked(board=looked(judged={})))
    assert NO_ACCOUNT in told
    assert "ALDEBARAN_ARCHIVIST_ACCOUNTS" in told


@pytest.mark.parametrize("board", [Board(), looked(NOT_BEGUN, judged={}), looked(part="gateway")])
async def test_of_an_archivist_that_was_not_seen_ready_no_account_is_missed(board: Board) -> None:
    told = words(await asked(board=board))
    assert NO_ACCOUNT not in told
    assert "has judged" not in told


async def test_before_the_first_look_nothing_is_said_of_the_archivist() -> None:
    told = words(await asked(board=Board()))
    assert "not ready" not in told


async def test_who_may_not_look_is_led_to_the_login() -> None:
    page = await asked(is_open=False)
    assert (page.status_code, page.headers["location"]) == (303, "/login?next=%2Funjudged")
