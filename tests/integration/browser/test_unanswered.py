"""What a page asks by itself and gets no answer to: what stands there says from when it is."""

from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, Route

from services.backbone.ledger.database import Pool
from tests.integration.browser.conftest import OpenTab
from tests.integration.browser.test_refused import REHEARSAL, TRACE, begin, forgive
from tests.integration.console.ledger_rows import add_alert
from tests.integration.deliverer.ledgers import Ledger

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
HUNG_MS = 31_000
SLOW_MS = 25_000
LOST = ("Failed to fetch", "ERR_INTERNET_DISCONNECTED")
SILENT = "#trouble >> text=the console does not answer; what stands here is from"


def _is_fine(page: Page) -> None:
    page.wait_for_selector("#trouble", state="hidden")


def test_a_search_without_an_answer_does_not_pass_for_one(tab: OpenTab, ledger: Ledger) -> None:
    for hall in ("north", "south"):
        add_alert(ledger.url, hall, summary=f"hall {hall} is hot")
    one = tab(viewport={"width": 360, "height": 640})
    one.page.clock.set_fixed_time(NOON)
    one.go("/alerts")
    one.page.fill("#search", "north")
    one.page.wait_for_selector("text=hall south is hot", state="detached")
    one.page.context.set_offline(True)
    one.page.clock.set_fixed_time(NOON + timedelta(minutes=1))
    one.page.fill("#search", "south")
    one.page.wait_for_selector(f"{SILENT} 12:00:00Z")
    assert one.page.locator("text=hall north is hot").is_visible()
    one.page.context.set_offline(False)
    one.page.fill("#search", "south is")
    one.page.wait_for_selector("text=hall south is hot")
    _is_fine(one.page)
    forgive(one, *LOST)


def test_a_console_that_hangs_is_told_as_one_that_is_away(tab: OpenTab, ledger: Ledger) -> None:
    alert = add_alert(ledger.url, "north", summary="hall north is hot")
    one = tab()
    one.page.clock.install()
    one.go("/alerts")
    one.page.route("**/alerts?**", lambda _: None)
    with one.page.expect_request("**/alerts?**"):
        one.page.fill("#search", "south")
        one.page.clock.fast_forward(HUNG_MS)
    one.page.clock.fast_forward(HUNG_MS)
    one.page.wait_for_selector(SILENT)
    assert one.page.locator("text=hall north is hot").is_visible()
    one.page.route("**/behind", lambda _: None)
    with one.page.expect_request("**/behind"):
        one.go(f"/alerts/{alert}")
    one.page.clock.fast_forward(HUNG_MS)
    one.page.wait_for_selector("#behind >> text=the console does not answer: load the page again")
    one.page.unroute_all(behavior="ignoreErrors")
    forgive(one, "htmx:error: timeout")


def test_a_slow_answer_is_waited_for(tab: OpenTab, ledger: Ledger) -> None:
    """The ledger may take 10 s for each of a search's questions."""
    add_alert(ledger.url, "north", summary="hall north is hot")
    one, held = tab(), list[Route]()

    def hold(route: Route) -> None:
        held.append(route)

    one.page.clock.install()
    one.go("/alerts")
    one.page.route("**/alerts?**", hold, times=1)
    with one.page.expect_request("**/alerts?**"):
        one.page.fill("#search", "south")
        one.page.clock.fast_forward(1_000)
    one.page.clock.fast_forward(SLOW_MS)
    held[0].continue_()
    one.page.wait_for_selector("text=hall north is hot", state="detached")
    _is_fine(one.page)


@pytest.mark.parametrize("path", [f"/traces/{TRACE}", f"/rehearsals/{REHEARSAL}"])
def test_a_page_that_follows_says_that_it_does_not_any_more(
    tab: OpenTab, pool: Pool, path: str
) -> None:
    begin(pool)
    one = tab()
    one.page.clock.set_fixed_time(NOON)
    one.go(path)
    one.page.context.set_offline(True)
    one.page.wait_for_selector(f"{SILENT} 12:00:00Z")
    one.page.clock.set_fixed_time(NOON + timedelta(minutes=1))
    one.page.context.set_offline(False)
    _is_fine(one.page)
    one.page.context.set_offline(True)
    one.page.wait_for_selector(f"{SILENT} 12:01:00Z")
    one.page.context.set_offline(False)
    _is_fine(one.page)
    forgive(one, *LOST)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('<p id="problem">a store does not answer</p>', "a store does not answer; what stands"),
        ("Bad Gateway", "the console does not answer; what stands"),
    ],
)
def test_a_fault_is_told_in_its_own_words(tab: OpenTab, pool: Pool, body: str, said: str) -> None:
    begin(pool)
    one = tab()

    def away(route: Route) -> None:
        route.fulfill(status=502, body=body, content_type="text/html")

    one.page.route(f"**/traces/{TRACE}/lines", away)
    one.go(f"/traces/{TRACE}")
    one.page.wait_for_selector(f"#trouble >> text={said}")
    assert one.page.locator("text=Nothing of this key has come since.").is_visible()
    one.page.unroute(f"**/traces/{TRACE}/lines")
    _is_fine(one.page)
    forgive(one, "502")
