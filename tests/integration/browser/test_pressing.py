"""A button that was pressed is dead while its answer is on the way, and no longer."""

from typing import Final

import pytest
from playwright.sync_api import Page, Route

from services.backbone.ledger.database import Pool, transaction
from tests.integration.browser.conftest import OpenTab
from tests.integration.browser.test_refused import forgive
from tests.integration.console.conftest import PASSWORD, Console
from tests.integration.console.ledger_rows import add_alert
from tests.integration.deliverer.ledgers import Ledger

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]

PRESSED: Final = """(then) => new Promise(done => {
  const real = setTimeout, button = document.querySelector("[data-key=x]");
  const deeds = {
    stop: () => window.stop(),
    wait: () => {},
    back: () => dispatchEvent(new PageTransitionEvent("pageshow", {persisted: true})),
  };
  window.setTimeout = (doing, ms) => real(doing, ms / 20);
  button.click();
  real(() => {
    const wasDead = button.disabled;
    deeds[then]();
    const looks = setInterval(() => {
      if (button.disabled) return;
      clearInterval(looks);
      window.stop();
      done(wasDead);
    }, 20);
  }, 200);
})"""
"""Presses, stops that or comes back or does nothing, and waits until the button lives again.

It looks from within, as a browser under test answers nothing while it waits for a page; time goes
20 times as fast."""


def loaded(page: Page, alert: str) -> None:
    """Open an alert, and wait for what its page asks by itself: stopping the page would lose it."""
    page.goto(alert)
    page.wait_for_selector("text=Looking on the topics", state="detached")


@pytest.mark.parametrize("then", ["stop", "wait", "back"])
def test_a_press_without_an_answer_may_be_repeated(
    tab: OpenTab, console: Console, ledger: Ledger, then: str
) -> None:
    one, held = tab(), list[Route]()

    def hold(route: Route) -> None:
        held.append(route)

    one.log_in(console)
    loaded(one.page, f"{one.url}/alerts/{add_alert(ledger.url, 'one')}")
    one.page.route("**/acknowledge", hold, times=1)
    assert one.page.evaluate(PRESSED, then) is True
    assert len(held) == 1
    one.page.click("[data-key=x]")
    one.page.wait_for_selector("text=by ann (console)")


SILENT: Final = """() => new Promise(done => {
  const real = setTimeout;
  window.setTimeout = (doing, ms) => real(doing, ms / 100);
  document.querySelector("[data-key=x]").click();
  const looks = setInterval(() => {
    const said = document.querySelector("form [role=alert]");
    if (!said) return;
    clearInterval(looks);
    window.stop();
    done([said.textContent, said.closest("form").note.value]);
  }, 20);
})"""
"""Presses and waits until the page says that no answer has come; time goes 100 times as fast."""


def test_a_press_without_an_answer_is_told_beside_its_form(
    tab: OpenTab, console: Console, ledger: Ledger
) -> None:
    one = tab()
    one.log_in(console)
    loaded(one.page, f"{one.url}/alerts/{add_alert(ledger.url, 'one')}")
    one.page.route("**/acknowledge", lambda _: None, times=1)
    one.page.fill("input[name=note]", "the fan of hall 2")
    said, note = one.page.evaluate(SILENT)
    assert "No answer for 40 s: whether this was done is not known." in said
    assert note == "the fan of hall 2"
    one.page.click("[data-key=x]")
    one.page.wait_for_selector("text=by ann (console)")


def test_what_was_typed_outlives_the_session(
    tab: OpenTab, console: Console, ledger: Ledger, pool: Pool
) -> None:
    one, alert = tab(), add_alert(ledger.url, "one")
    one.log_in(console)
    one.go(f"/alerts/{alert}")
    one.page.fill("input[name=note]", "the fan of hall 2")
    with transaction(pool) as connection:
        connection.execute("DELETE FROM console_sessions")
    one.page.click("[data-key=x]")
    with one.page.expect_popup() as opened:
        one.page.click("main a >> text=Log in in another tab")
    other = opened.value
    other.fill("input[name=name]", "ann")
    other.fill("input[name=password]", PASSWORD)
    other.click("main button")
    other.wait_for_selector("text=ann")
    other.close()
    one.page.evaluate("dispatchEvent(new Event('focus'))")
    one.page.wait_for_selector("text=You are logged in as ann now: press again.")
    one.page.click("[data-key=x]")
    one.page.wait_for_selector("text=the fan of hall 2")
    one.page.wait_for_selector("text=by ann (console)")
    forgive(one, "401")


def test_a_press_after_the_session_is_over_leads_back_by_the_login(
    tab: OpenTab, console: Console, ledger: Ledger, pool: Pool
) -> None:
    one, alert = tab(), add_alert(ledger.url, "one")
    one.log_in(console)
    one.go(f"/alerts/{alert}?said=welcome")
    with transaction(pool) as connection:
        connection.execute("DELETE FROM console_sessions")
    one.page.click("[data-key=x]")
    one.page.click("main a >> text=Log in")
    one.page.fill("input[name=name]", "ann")
    one.page.fill("input[name=password]", PASSWORD)
    one.page.click("main button")
    one.page.wait_for_url(f"{one.url}/alerts/{alert}")
    one.page.click("[data-key=x]")
    one.page.wait_for_selector("text=by ann (console)")
    forgive(one, "401")


def test_the_help_is_closed_by_its_button_again_and_again(tab: OpenTab) -> None:
    one = tab()
    one.go("/")
    for _ in range(2):
        one.page.keyboard.press("?")
        one.page.click("dialog[open] button")
        one.page.wait_for_selector("dialog", state="hidden")
    one.page.keyboard.press("?")
    one.page.wait_for_selector("dialog[open] button:enabled")
