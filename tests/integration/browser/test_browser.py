"""The console in a real browser: it lives, people act, and nothing goes wrong on the page."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Route

from services.backbone.ledger.database import Pool
from services.backbone.ledger.operators.rehearsals import Rehearsals
from services.console.people.roles import Role
from services.contracts.states import State
from tests.integration.browser.conftest import OpenTab, Tab
from tests.integration.browser.scenes import ANSWER, Scene
from tests.integration.console.conftest import Console
from tests.integration.console.ledger_rows import add_alert, add_delivery
from tests.integration.console.login_provider import LoginProvider
from tests.integration.deliverer.conftest import Start
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.receivers import DROP, OK, WebhookReceiver
from tests.integration.deliverer.waiting import until
from tests.unit.deliverer.builders import delivery

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
SHIFT = """() => new Promise(done => {
  let sum = 0;
  new PerformanceObserver(list => list.getEntries().forEach(each => { sum += each.value; }))
    .observe({type: "layout-shift", buffered: true});
  setTimeout(() => done(sum), 200);
})"""


def test_the_first_page_lives_without_jumping(tab: OpenTab, ledger: Ledger) -> None:
    one = tab()
    one.go("/")
    one.page.wait_for_selector("body[data-live=yes]")
    for number in range(5):
        alert = add_alert(ledger.url, str(number), summary=f"Something new {number}")
        one.page.wait_for_selector(f"#alert-{alert} >> text=Something new {number}")
    add_delivery(ledger.url, alert, state=State.HELD, reason="no answer")
    one.page.wait_for_selector("#tile-todo.bad")
    assert one.page.evaluate(SHIFT) < 0.1


def point_away(one: Tab) -> None:
    one.page.mouse.move(0, 0)


def let_time_pass(one: Tab) -> None:
    one.page.clock.set_fixed_time(NOON + timedelta(minutes=1))


@pytest.mark.parametrize("release", [point_away, let_time_pass])
def test_a_row_does_not_slip_away_under_the_pointer(
    tab: OpenTab, ledger: Ledger, release: Callable[[Tab], None]
) -> None:
    alert = add_alert(ledger.url, "0", summary="The one to press")
    pointing, watching = tab(), tab()
    pointing.page.clock.set_fixed_time(NOON)
    for each in (pointing, watching):
        each.go("/")
        each.page.wait_for_selector("body[data-live=yes]")
    pointing.page.locator(f"#alert-{alert}").hover(position={"x": 5, "y": 5})
    newer = f"#alert-{add_alert(ledger.url, '1', summary='Something new')}"
    watching.page.wait_for_selector(newer)
    pointing.page.wait_for_selector("body[data-live=held]")
    assert pointing.page.locator(newer).count() == 0
    release(pointing)
    pointing.page.wait_for_selector(newer)


def test_the_first_page_lives_though_a_script_comes_late(tab: OpenTab) -> None:
    one, held = tab(), list[Route]()

    def hold(route: Route) -> None:
        held.append(route)

    one.page.route("**/hx-sse.min.js*", hold)
    one.page.goto(one.url, wait_until="commit")
    until(lambda: one.page.evaluate("'htmx' in window") and held, "htmx runs, the other is held")
    one.page.evaluate("() => new Promise(done => setTimeout(done, 50))")
    held[0].continue_()
    one.page.wait_for_selector("body[data-live=yes]")


def test_the_first_page_lives_though_it_was_refused_at_first(tab: OpenTab) -> None:
    one = tab()
    one.page.route("**/live", lambda route: route.fulfill(status=503), times=1)
    one.go("/")
    one.page.wait_for_selector("body[data-live=yes]")
    assert [each for each in one.troubles if "503" not in each] == []
    one.troubles.clear()


def test_an_operator_resolves_a_real_doubt(
    tab: OpenTab, console: Console, ledger: Ledger, receiver: WebhookReceiver, start: Start
) -> None:
    arrived, repeated = (delivery(number, recipient=receiver.url) for number in (1, 2))
    receiver.script = lambda number, key: DROP
    one = tab()
    one.log_in(console)
    one.page.wait_for_selector("body[data-live=yes]")
    ledger.add(arrived, repeated)
    start("webhook", in_doubt_deadline_seconds=300)
    one.page.wait_for_selector(f"#todo-{arrived.delivery_id}")
    receiver.script = lambda number, key: OK
    one.page.click(f"#todo-{arrived.delivery_id} a")
    one.page.wait_for_selector("text=claimed")
    one.page.fill("textarea[name=why]", "the desk has it")
    one.page.click("text=it arrived >> visible=true")
    one.page.wait_for_selector(".said >> text=done")
    assert ledger.row(arrived)["state"] == State.SENT
    one.go(f"/deliveries/{repeated.delivery_id}")
    one.page.fill("textarea[name=why]", "nobody knows")
    one.page.click("text=send once more")
    until(lambda: ledger.row(repeated)["state"] == State.SENT, "sent once more")
    assert receiver.came() == {arrived.delivery_id: 1, repeated.delivery_id: 2}
    again = [each.body for each in receiver.requests if each.key == repeated.delivery_id][1]
    assert b"[possible repeat]" in again
    one.go("/")
    one.page.wait_for_selector("text=Nothing waits for a person.")


def test_somebody_comes_by_the_login_provider_and_acts(
    tab: OpenTab, keyring: LoginProvider, ledger: Ledger
) -> None:
    alert = add_alert(ledger.url, "one")
    one = tab()
    one.go(f"/login?next=/alerts/{alert}")
    one.page.click("text=Log in with Keyring")
    one.page.wait_for_url(f"{one.url}/alerts/{alert}")
    one.page.click("main button >> text=Acknowledge")
    one.page.wait_for_selector("text=by ann@127.0.0.1 (console)")
    one.page.click("text=Log out")
    one.page.click("text=Log out at the provider")
    one.page.wait_for_url(f"{keyring.issuer}/out**")


def test_keys_move_through_the_page(tab: OpenTab, console: Console, ledger: Ledger) -> None:
    alerts = [add_alert(ledger.url, str(n), accepted=n, summary=f"Alert {n}") for n in range(3)]
    one = tab()
    one.log_in(console)
    for key in "ga":
        one.page.keyboard.press(key)
    one.page.wait_for_url("**/alerts")
    for key in ("j", "j", "Enter"):
        one.page.keyboard.press(key)
    one.page.wait_for_url(f"**/alerts/{alerts[1]}")
    for key in ("x", "Enter"):
        one.page.keyboard.press(key)
    one.page.wait_for_selector("text=by ann (console)")
    one.page.keyboard.press("?")
    one.page.wait_for_selector("dialog[open]")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_fits_a_phone(
    tab: OpenTab, console: Console, ledger: Ledger, scene: Scene, scheme: str
) -> None:
    alert = add_alert(ledger.url, "long", summary="A long one, " * 20)
    held = add_delivery(ledger.url, alert, recipient="x" * 80 + "@example.org", state=State.HELD)
    one = tab(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    one.log_in(console, "boss", Role.ADMIN)
    for path in (*scene.paths, f"/alerts/{alert}", f"/deliveries/{held}", "/login"):
        one.go(path)
        width = one.page.evaluate("document.documentElement.scrollWidth")
        assert width <= 360, path


def test_what_a_watch_would_have_raised_comes_by_itself(
    tab: OpenTab, console: Console, pool: Pool
) -> None:
    one = tab()
    one.log_in(console)
    one.go("/watches/over-purchase")
    one.page.click("text=Change it: try first")
    text = one.page.input_value("textarea[name=watch]")
    one.page.fill("textarea[name=watch]", text.replace("limit: 24 hours", "limit: 12 hours"))
    one.page.click("text=Try it >> visible=true")
    one.page.wait_for_selector("text=It waits for its turn")
    one.page.wait_for_selector("ins >> text=limit: 12 hours")
    book = Rehearsals(pool)
    taken = book.take("test", 600)
    assert taken is not None
    one.page.wait_for_selector("text=It runs, for")
    book.answer(taken, "test", ANSWER)
    one.page.wait_for_selector("text=only the live one")
    assert one.page.evaluate(SHIFT) == 0
    assert one.page.locator("[hx-trigger]").count() == 0
