"""Deliveries of one channel: in the ledger's lists, the API and the to-do page."""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import psycopg
import pytest
from httpx2 import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.backbone.ledger.answers import reading_sql
from services.backbone.ledger.answers.reading import BY_CHANNEL, LedgerReader
from services.backbone.ledger.page_start import NEWEST, PageStart
from services.contracts.states import State
from tests.integration.console.ledger_rows import add_alert, add_delivery

pytestmark = pytest.mark.postgres

CHANNELS = ("email", "sms")
STATES = st.lists(st.sampled_from(sorted(BY_CHANNEL)), min_size=1, max_size=3, unique=True)


@dataclass(frozen=True)
class Made:
    """One delivery in the ledger."""

    delivery_id: str
    channel: str
    state: State
    created: int


@pytest.fixture
def many(ledger_url: str) -> list[Made]:
    """Several of each channel and state, some made in the same second."""
    alert, made = add_alert(ledger_url, "one"), []
    for number, (channel, state) in enumerate(product(CHANNELS, State)):
        for copy in range(2):
            created = number // 3
            found = add_delivery(
                ledger_url, alert, recipient=f"{state}-{copy}", channel=channel, state=state,
                created=created,
            )  # fmt: skip
            made.append(Made(found, channel, state, created))
    return made


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(["", *CHANNELS]), STATES, st.integers(1, 5))
def test_lists_by_channel_are_walked_whole_newest_first(
    reader: LedgerReader, many: list[Made], channel: str, states: list[State], limit: int
) -> None:
    wanted = [
        each.delivery_id
        for each in sorted(many, key=lambda each: (-each.created, each.delivery_id))
        if each.state in states and channel in ("", each.channel)
    ]
    place, seen = NEWEST, []
    while True:
        page = reader.deliveries(states, limit, place, channel)
        seen += [each.delivery_id for each in page.rows]
        if page.next_cursor is None:
            break
        place = PageStart.parse(page.next_cursor)
    assert seen == wanted


MANY = """
INSERT INTO deliveries
  (delivery_id, alert_id, channel, recipient, record, state, created_at, reason)
SELECT md5(n::text), %(alert)s, CASE WHEN n %% 3 = 0 THEN 'sms' ELSE 'email' END, n::text, '{}',
  CASE n %% 50 WHEN 0 THEN 'FAILED' WHEN 1 THEN 'HELD' ELSE 'SENT' END,
  now() - n * interval '1 second', ''
FROM generate_series(1, 10000) AS n"""


@pytest.mark.parametrize(
    ("kind", "index"),
    [(reading_sql.IS_OPEN, "deliveries_open"), (reading_sql.HAS_FAILED, "deliveries_failed")],
)
@pytest.mark.parametrize("by_channel", [True, False])
def test_the_few_among_the_many_that_are_done_are_found_by_their_index(
    ledger_url: str, kind: str, index: str, by_channel: bool
) -> None:
    """Whatever states are asked for, as in a plan for any of them."""
    question = reading_sql.newest_deliveries([kind], by_channel)
    terms = {"limit": 51, "at_us": NEWEST.at_us, "row_id": "", "channel": "sms"}
    with psycopg.connect(ledger_url) as connection:
        connection.execute(MANY, {"alert": add_alert(ledger_url, "one")})
        connection.execute("ANALYZE deliveries")
        explained = connection.execute(
            b"EXPLAIN " + question.encode(), terms | {"states": [each.value for each in State]}
        )
        assert f"using {index} on deliveries" in str(explained.fetchall())


def ids(rows: list[dict[str, str]]) -> set[str]:
    return {row["delivery_id"] for row in rows}


def test_the_api_lists_one_channels(browser: Client, many: list[Made]) -> None:
    asked: dict[str, str | list[str]] = {
        "state": ["FAILED", "HELD"],
        "channel": "sms",
        "limit": "1",
    }
    pages = list(walked(browser, asked))
    wanted = {
        each.delivery_id
        for each in many
        if each.channel == "sms" and each.state in (State.FAILED, State.HELD)
    }
    assert [len(page) for page in pages] == [1] * len(wanted)
    assert {found for page in pages for found in ids(page)} == wanted


def walked(browser: Client, asked: dict[str, str | list[str]]) -> Iterator[list[dict[str, str]]]:
    """Return the pages of a list of deliveries."""
    cursor: str | None = ""
    while cursor is not None:
        given = asked | ({"cursor": cursor} if cursor else {})
        page = browser.get("/v1/deliveries", params=given).raise_for_status().json()
        yield page["rows"]
        cursor = page["next_cursor"]


@pytest.mark.parametrize("asked", ["channel=sms", "channel=sms&state=SENT&state=HELD"])
def test_what_has_ended_is_not_looked_for_by_channel(browser: Client, asked: str) -> None:
    answer = browser.get(f"/v1/deliveries?{asked}")
    assert (answer.status_code, answer.json()["title"]) == (422, "bad_question")
    assert "FAILED, HELD" in answer.json()["detail"]
    assert browser.get("/v1/deliveries?state=HELD&channel=no%20name").status_code == 422


def test_the_to_do_page_keeps_the_channel(
    browser: Client, ledger_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.console.pages.deliveries.SHOWN", 2)
    alert = add_alert(ledger_url, "one")
    for number, channel in enumerate(("email", "email", "sms", "sms", "sms")):
        add_delivery(
            ledger_url, alert, recipient=f"r{number}", channel=channel, state=State.FAILED,
            created=number,
        )  # fmt: skip
    page = browser.get("/todo?state=FAILED").text
    assert links(page, "Older ones")[0].startswith("/todo?state=FAILED&cursor=")
    (sms,) = links(page, "sms")
    page = browser.get(sms).text
    assert "sms to <bdi>r4" in page
    (older,) = links(page, "Older ones")
    page = browser.get(older).text
    assert "sms to <bdi>r2" in page
    assert "email to" not in page
    assert links(page, "all channels") == ["/todo?state=FAILED"]
    assert links(page, "held") == ["/todo?state=HELD&channel=sms"]
    assert links(page, "sent") == ["/todo?state=SENT"]
    assert links(browser.get("/todo?state=SENT").text, "all channels") == []


def test_the_to_do_page_leads_to_the_dead_letters_where_nothing_else_waits(
    browser: Client, ledger_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An alarm leads there that somebody was not told."""
    nothing = "Nothing waits for a person."
    assert nothing in browser.get("/todo").text
    alert = add_alert(ledger_url, "one")
    for number, channel in enumerate(("email", "sms", "sms")):
        add_delivery(ledger_url, alert, recipient=f"r{number}", channel=channel, state=State.FAILED)
    page = browser.get("/todo").text
    assert nothing not in page
    assert links(page, "3 failed for good") == ["/todo?state=FAILED"]
    page = browser.get("/todo?channel=sms&state=HELD").text
    assert "failed for good" not in page
    monkeypatch.setattr("services.console.pages.deliveries.SHOWN", 1)
    of_sms = links(browser.get("/todo?channel=sms").text, "1+ failed for good")
    assert of_sms == ["/todo?state=FAILED&channel=sms"]


def links(page: str, text: str) -> list[str]:
    """Return where the links with this text lead."""
    found = re.findall(rf'<a class="[^"]*"[^>]*href="([^"]*)"[^>]*>{re.escape(text)}</a>', page)
    return [html.unescape(each) for each in found]
