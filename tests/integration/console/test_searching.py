"""Looking for alerts, held to a plain look at each of them."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

import psycopg
import pytest
from httpx2 import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.backbone.errors import Transient
from services.backbone.ledger.answers.reading import MARKS_LIMIT, LedgerReader
from services.backbone.ledger.answers.searching import WALK_LIMIT, Search
from services.backbone.ledger.database import Pool, open_pool
from services.backbone.ledger.page_start import NEWEST, PageStart
from services.backbone.settings import LedgerSettings
from tests.integration.console.ledger_rows import START, add_alert, add_delivery

pytestmark = pytest.mark.postgres

CLIENTS = (
    *("Baker Fund", "baker & sons", "O'Neil \\ Co", "Ünal Özgür", "x:y=z", "ΑΘΗΝΑΣ", "İstanbul"),
)
SUMMARIES = ("Much too much", "Too little, too late", "R-17 is over", "quiet")
SEVERITIES = ("info", "warning", "critical")
AMOUNT = 60
_STORM = """
INSERT INTO alerts (alert_id, watch, severity, summary, record, routed_by, appended_at, detected_at,
  accepted_at, acknowledged_at)
SELECT md5(%(watch)s || n), %(watch)s, 'warning', 'over', %(record)s::jsonb, 'test', now(), now(),
  now() - make_interval(hours => %(hours)s) - n * interval '1 millisecond',
  CASE WHEN n > %(open)s THEN now() END
FROM generate_series(1, %(count)s) AS n"""
_BY_HAND = "ALTER TABLE alerts SET (autovacuum_enabled = off)"
_TOUCHED = """
SELECT heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read
FROM pg_statio_user_tables WHERE relname = 'alerts'"""


def record(number: int) -> dict[str, Any]:
    labels = {"client": CLIENTS[number % len(CLIENTS)], "none": None} if number % 3 else {}
    return {"key": {"book": f"B-{number}"}, "labels": labels}


def in_hand(number: int) -> datetime | None:
    return START if number % 5 else None


@pytest.fixture
def filled(reader: LedgerReader, ledger_url: str) -> LedgerReader:
    with psycopg.connect(ledger_url) as connection:
        for number in range(AMOUNT):
            add_alert(
                ledger_url, str(number), accepted=number,
                summary=SUMMARIES[number % 4], record=record(number),
            )  # fmt: skip
        for number in range(AMOUNT):
            connection.execute(
                "UPDATE alerts SET severity = %s, watch = %s, acknowledged_at = %s"
                " WHERE record -> 'key' ->> 'book' = %s",
                (SEVERITIES[number % 3], f"w{number % 2}", in_hand(number), f"B-{number}"),
            )
    return reader


def found(reader: LedgerReader, search: Search, size: int = 7) -> Iterator[str]:
    place = NEWEST
    while True:
        page = reader.alerts(size, place, search)
        yield from (row.summary for row in page.rows)
        if page.next_cursor is None:
            return
        place = PageStart.parse(page.next_cursor)


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def fits(number: int, search: Search) -> bool:
    """Look at one alert in the plainest way; words of the model have no signs inside."""
    own = record(number)
    named = own["key"] | {name: value for name, value in own["labels"].items() if value}
    texts = words(" ".join([SUMMARIES[number % 4], *named.values()]))
    at_ms = int(START.timestamp() * 1000) + number * 1000
    return (
        all(any(each.startswith(word) for each in texts) for word in words(search.text))
        and search.watch in ("", f"w{number % 2}")
        and search.severity in ("", SEVERITIES[number % 3])
        and all(named.get(name) == value for name, value in search.labels.items())
        and search.since_ms <= at_ms
        and (search.until_ms is None or at_ms <= search.until_ms)
        and (in_hand(number) is None or not search.open_only)
    )


STARTS_MS = int(START.timestamp() * 1000)
SEARCHES = st.builds(
    Search,
    text=st.sampled_from(["", "too", "much to", "quie", "baker", "fund bak", "nothing", "özg"]),
    watch=st.sampled_from(["", "w0", "w1", "w2"]),
    severity=st.sampled_from(["", *SEVERITIES]),
    labels=st.one_of(
        st.just({}),
        st.builds(lambda value: {"client": value}, st.sampled_from(CLIENTS)),
        st.builds(lambda number: {"book": f"B-{number}"}, st.integers(0, AMOUNT)),
    ),
    since_ms=st.one_of(st.just(0), st.integers(STARTS_MS, STARTS_MS + AMOUNT * 1000)),
    until_ms=st.one_of(st.none(), st.integers(STARTS_MS, STARTS_MS + AMOUNT * 1000)),
    open_only=st.booleans(),
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(search=SEARCHES)
def test_what_is_found_is_what_fits(filled: LedgerReader, search: Search) -> None:
    wanted = [SUMMARIES[n % 4] for n in reversed(range(AMOUNT)) if fits(n, search)]
    assert list(found(filled, search)) == wanted


def touched(pool: Pool) -> int:
    """Return how many blocks of alerts and their indexes the pool's one connection has touched."""
    with pool.connection() as connection:
        connection.execute("SELECT pg_stat_force_next_flush()")
    with pool.connection() as connection:
        return int(connection.execute(_TOUCHED).fetchall()[0][0])


@contextmanager
def stormy(ledger_url: str, *, seldom: int, noisy: int, left_open: int = 10**6) -> Iterator[Pool]:
    """Fill the ledger: all of `noisy` is newer; so many of each are open."""
    settings = {"postgres_url": ledger_url, "postgres_pool_size": 1}
    terms = {"record": json.dumps({"values": "x" * 500}), "open": left_open}
    with open_pool(LedgerSettings.model_validate(settings)) as pool:
        with pool.connection() as connection:
            connection.execute(_BY_HAND)
            for watch, count, age in (("seldom", seldom, 2), ("noisy", noisy, 1)):
                connection.execute(_STORM, terms | {"watch": watch, "count": count, "hours": age})
            connection.execute("ANALYZE alerts")
        yield pool


@pytest.mark.parametrize("open_only", [False, True])
def test_a_storm_of_another_watch_costs_a_search_nothing(ledger_url: str, open_only: bool) -> None:
    with stormy(ledger_url, seldom=5 * WALK_LIMIT, noisy=WALK_LIMIT + 1) as pool:
        before = touched(pool)
        page = LedgerReader(pool).alerts(50, search=Search(watch="seldom", open_only=open_only))
        assert touched(pool) - before < 200
    assert [row.watch for row in page.rows] == ["seldom"] * 50


@pytest.mark.parametrize(
    ("search", "watches"),
    [
        (Search(), {"noisy": 7, "seldom": 7}),
        (Search(severity="warning"), {"noisy": 7, "seldom": 7}),
        (Search(severity="critical"), {}),
        (Search(watch="seldom"), {"seldom": 7}),
        (Search(watch="seldom", severity="warning", text="over"), {"seldom": 7}),
    ],
)
def test_open_alerts_are_found_among_many_that_are_in_hand(
    ledger_url: str, search: Search, watches: dict[str, int]
) -> None:
    with stormy(ledger_url, seldom=WALK_LIMIT, noisy=5 * WALK_LIMIT, left_open=7) as pool:
        before = touched(pool)
        page = LedgerReader(pool).alerts(50, search=replace(search, open_only=True))
        assert touched(pool) - before < 600
    assert Counter(row.watch for row in page.rows) == watches


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("R-1037", "R-10"),
        ("R-1037", "r"),
        ("order-4711", "order-47"),
        ("half-life", "half-li"),
        ("half-life", "life"),
        ("O'Neil", "o'nei"),
        ("10.0.0.7", "10.0.0.7"),
        ("see https://shop.example/cart/9", "shop.example/cart"),
        ("see https://shop.example/cart/9", "https://shop.example/cart/9"),
        ("ann@shop.example", "ann@shop.example"),
    ],
)
def test_what_has_signs_inside_is_found_by_its_beginning(
    reader: LedgerReader, ledger_url: str, written: str, typed: str
) -> None:
    add_alert(ledger_url, "0", summary=written)
    add_alert(ledger_url, "1", summary="something else")
    assert list(found(reader, Search(text=typed))) == [written]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(alphabet=st.characters(exclude_characters="\x00", exclude_categories=["Cs"])))
def test_any_text_may_be_looked_for(filled: LedgerReader, text: str) -> None:
    filled.alerts(5, NEWEST, Search(text=text))
    filled.alerts(5, NEWEST, Search(text="too", watch=text, labels={text: text}))


def test_alerts_of_any_shape_are_kept(reader: LedgerReader, ledger_url: str) -> None:
    add_alert(ledger_url, "long", record={"labels": {"l" * 512: "ü" * 512}}, summary="s" * 4096)
    add_alert(ledger_url, "odd", record={"labels": {"": "", "a": None}, "key": {}})
    assert len(reader.alerts(5, NEWEST, Search(labels={"l" * 512: "ü" * 512})).rows) == 1
    assert len(reader.alerts(5, NEWEST, Search(labels={"": ""})).rows) == 1


def test_a_search_is_a_link(browser: Client, filled: LedgerReader) -> None:
    page = browser.get("/alerts?q=too&severity=warning&label=client%3DBaker+Fund").text
    assert 'value="too"' in page
    assert 'value="client=Baker Fund"' in page
    link = re.search(r'href="(/v1/alerts\?[^"]+)"', page)
    assert link
    rows = browser.get(link[1].replace("&amp;", "&")).json()["rows"]
    assert rows
    assert {row["severity"] for row in rows} == {"warning"}
    assert "No alert fits." in browser.get("/alerts?q=nothing").text


def test_what_nobody_has_in_hand_is_a_search_too(
    browser: Client, filled: LedgerReader, ledger_url: str
) -> None:
    link = re.search(r'href="(/v1/alerts\?[^"]+)"', browser.get("/alerts?open=1").text)
    assert link
    rows = browser.get(f"{link[1].replace('&amp;', '&')}&limit=200").json()["rows"]
    assert [row["acknowledged_at_ms"] for row in rows] == [None] * (AMOUNT // 5)
    page = browser.get("/alerts?open=1").text
    assert '<input type="checkbox" name="open" value="1" checked>' in page
    assert ">acknowledged</span>" not in page
    assert browser.get("/alerts").text.count(">acknowledged</span>") == 50 - 50 // 5
    told = csv.DictReader(io.StringIO(browser.get("/v1/alerts-export?open=true").text))
    assert [row["acknowledged_at"] for row in told] == [""] * (AMOUNT // 5)
    every = csv.DictReader(io.StringIO(browser.get("/v1/alerts-export").text))
    assert {row["acknowledged_at"] for row in every} == {"", "2026-11-21 09:30:00.000Z"}


@pytest.mark.parametrize(
    "query",
    [
        "since=yesterday", "label=x", "q=%00", "q=" + "x" * 201,
        "label=hall%3Dnorth&label=+hall%3Dsouth",
        "until=9999-12-31T23:59:59-14:00", "since=9999-12-31T23:59:59-14:00",
    ],
)  # fmt: skip
def test_a_bad_search_says_what_is_wrong(browser: Client, query: str) -> None:
    assert browser.get(f"/v1/alerts?{query}").status_code == 422
    assert browser.get(f"/alerts?{query}").status_code == 422


def test_an_export_is_refused_while_the_ledger_is_away(
    browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise Transient("Postgres is away")

    monkeypatch.setattr(LedgerReader, "alerts", away)
    answer = browser.get("/v1/alerts-export")
    assert (answer.status_code, "retry-after" in answer.headers) == (503, True)


def test_exports_hold_all_that_fits(browser: Client, filled: LedgerReader, ledger_url: str) -> None:
    add_alert(ledger_url, "formula", accepted=99, summary='=HYPERLINK("x")')
    text = browser.get("/v1/alerts-export").text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == AMOUNT + 1
    assert rows[0]["summary"] == '\'=HYPERLINK("x")'
    lines = browser.get("/v1/alerts-export?form=ndjson&q=quiet").text.splitlines()
    assert len(lines) == AMOUNT // 4
    assert {json.loads(line)["summary"] for line in lines} == {"quiet"}
    assert len(browser.get("/v1/alerts-export?rows=5").text.splitlines()) == 6


def test_an_export_tells_how_many_deliveries_it_leaves_out(
    browser: Client, ledger_url: str
) -> None:
    alert = add_alert(ledger_url, "many")
    for number in range(MARKS_LIMIT + 2):
        add_delivery(ledger_url, alert, recipient=str(number), created=number)
    (row,) = csv.DictReader(io.StringIO(browser.get("/v1/alerts-export").text))
    assert (row["deliveries"].count("; "), row["more_deliveries"]) == (MARKS_LIMIT - 1, "2")
    told = json.loads(browser.get("/v1/alerts-export?form=ndjson").text)
    assert (len(told["deliveries"]), told["more_deliveries"]) == (MARKS_LIMIT, 2)
    assert "and 2 more</span>" in browser.get("/alerts").text
