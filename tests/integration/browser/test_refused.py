"""What a page asks by itself and is refused: the page stays, says why, and goes on."""

import pytest
from playwright.sync_api import Page, Response, Route

from services.backbone.ledger.database import Pool, transaction
from services.backbone.ledger.operators.rehearsals import Rehearsals, ask_on
from services.console.people.roles import Role
from services.console.tracing.store import begin_on
from services.contracts.rehearsals import Rehearsal
from tests.integration.browser.conftest import OpenTab, Tab
from tests.integration.browser.scenes import ANSWER, LIVE
from tests.integration.console.conftest import running
from tests.integration.console.ledger_rows import add_alert
from tests.integration.deliverer.ledgers import Ledger

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]

TRACE, REHEARSAL = "1" * 32, "2" * 32


def begin(pool: Pool) -> None:
    """Begin a trace, and ask for a rehearsal."""
    with transaction(pool) as connection:
        begin_on(connection, TRACE, "o-1", "ann", "a test", 300)
        ask_on(connection, REHEARSAL, "ann", "mine", Rehearsal(new=LIVE))


def forgive(one: Tab, *statuses: str) -> None:
    """Forget what the browser says of refused requests; nothing else may have gone wrong."""
    assert [each for each in one.troubles if not any(status in each for status in statuses)] == []
    one.troubles.clear()


def is_one_page(page: Page) -> bool:
    return page.locator("nav").count() == 1


def test_a_search_that_is_refused_says_why_and_goes_on(tab: OpenTab, ledger: Ledger) -> None:
    for name in ("one", "two"):
        add_alert(ledger.url, name, summary=f"Alert {name}", record={"labels": {"hall": name}})
    one = tab()
    one.go("/alerts")
    title = one.page.title()
    one.page.type("input[name=label]", "h")
    one.page.wait_for_selector("#trouble >> text=label: write NAME=VALUE")
    assert one.page.locator("#found li").count() == 2
    assert (is_one_page(one.page), one.page.title()) == (True, title)
    assert "?" not in one.page.url
    one.page.type("input[name=label]", "all=one")
    one.page.wait_for_selector("text=Alert two", state="detached")
    assert one.page.locator("text=Alert one").is_visible()
    assert one.page.locator("#trouble").is_hidden()
    one.page.wait_for_url("**/alerts?*label=hall%3Done*")
    found = one.page.url
    one.page.route("**/alerts?**", _away, times=1)
    one.page.fill("input[name=q]", "one")
    one.page.wait_for_selector("#trouble >> text=a store does not answer")
    assert one.page.url == found
    forgive(one, "422", "503")
    one.page.reload()
    assert one.page.locator("#found li").count() == 1


def _away(route: Route) -> None:
    route.fulfill(
        status=503, body='<p id="problem">a store does not answer</p>', content_type="text/html"
    )


def test_a_search_can_be_pressed_again(tab: OpenTab, ledger: Ledger) -> None:
    one = tab()
    one.go("/alerts")
    for name in ("one", "two"):
        add_alert(ledger.url, name, summary=f"Alert {name}")
        one.page.click("main button >> text=Search")
        one.page.wait_for_selector(f"text=Alert {name}")


def _is_part(answer: Response) -> bool:
    return answer.url.endswith(("/lines", "/part"))


@pytest.mark.parametrize("path", [f"/traces/{TRACE}", f"/rehearsals/{REHEARSAL}"])
def test_a_page_that_was_refused_once_asks_again(tab: OpenTab, pool: Pool, path: str) -> None:
    begin(pool)
    one, asked = tab(), list[int]()

    def refuse_first(route: Route) -> None:
        asked.append(len(asked))
        if asked[-1]:
            route.continue_()
        else:
            _away(route)

    one.page.route(f"**{path}/*", refuse_first)
    one.go(path)
    with one.page.expect_response(
        lambda answer: answer.url.endswith(("/lines", "/part")) and answer.ok
    ):
        pass
    if "rehearsals" in path:
        book = Rehearsals(pool)
        taken = book.take("test", 600)
        assert taken is not None
        book.answer(taken, "test", ANSWER)
        one.page.wait_for_selector("text=only the live one")
    assert is_one_page(one.page)
    forgive(one, "503")


@pytest.mark.parametrize(
    ("path", "back"),
    [
        (f"/traces/{TRACE}", f"/traces/{TRACE}"),
        (f"/rehearsals/{REHEARSAL}", f"/rehearsals/{REHEARSAL}"),
        ("/alerts", "/alerts?q=b&watch=&severity=&label=&since=&until="),
    ],
)
def test_a_page_whose_session_is_over_leads_to_the_login(
    tab: OpenTab, pool: Pool, ledger: Ledger, path: str, back: str
) -> None:
    begin(pool)
    with running(pool, ledger.url, open_to_readers=False) as console:
        one = tab()
        one.url = console.url
        one.log_in(console, "ann", Role.VIEWER)
        one.go(path)
        with transaction(pool) as connection:
            connection.execute("DELETE FROM console_sessions")
        if path == "/alerts":
            one.page.fill("input[name=q]", "b")
        one.page.wait_for_url("**/login?next=**")
        assert is_one_page(one.page)
        assert one.page.input_value("input[name=next]") == back
        forgive(one, "401")
