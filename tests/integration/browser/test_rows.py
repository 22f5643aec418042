"""Rows that are drawn anew while somebody works with them: the chosen one, focus, marked text."""

from datetime import UTC, datetime
from typing import Final

import pytest

from services.backbone.ledger.database import Pool, transaction
from services.console.tracing.closing import over
from services.console.tracing.lines import Line
from services.console.tracing.store import FOLLOWED_SECONDS, Traces, begin_on
from tests.integration.browser.conftest import OpenTab, Tab
from tests.integration.console.ledger_rows import add_alert
from tests.integration.deliverer.ledgers import Ledger

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]

TRACE: Final = "7" * 32
MARK: Final = "getSelection().selectAllChildren(document.querySelector('.row .detail bdi'))"
"""Marks the text of the first row."""


def now_ms() -> int:
    return int(datetime.now(UTC).timestamp() * 1000)


@pytest.fixture
def traces(pool: Pool) -> Traces:
    """A trace that is on, with a line that has a link and one that has none."""
    with transaction(pool) as connection:
        begin_on(connection, TRACE, "o-1", "ann", "a test", 900.0)
    made = Traces(pool)
    made.add(TRACE, [line("found", "a" * 32), line("accepted")], {})
    return made


def line(step: str, alert_id: str | None = None) -> Line:
    at_ms = now_ms()
    return Line(f"{step} {at_ms}", at_ms, step, f"told of {step}", alert_id)


def end(pool: Pool, seconds_ago: float) -> None:
    with transaction(pool) as connection:
        connection.execute(
            "UPDATE traces SET begun_at = to_timestamp(0), "
            "ends_at = ledger_now() - make_interval(secs => %s)",
            (seconds_ago,),
        )


def chosen(one: Tab) -> list[str]:
    found = one.page.locator(".selected")
    return [each.get_attribute("id") or "" for each in found.all()]


def test_the_chosen_row_stays_while_the_first_page_lives(tab: OpenTab, ledger: Ledger) -> None:
    old = [f"#alert-{add_alert(ledger.url, str(n), accepted=n)}" for n in range(3)]
    one = tab()
    one.go("/")
    one.page.wait_for_selector("body[data-live=yes]")
    one.page.wait_for_selector(old[2])
    for _ in range(2):
        one.page.keyboard.press("j")
    for number in range(2):
        newer = add_alert(ledger.url, f"new {number}", accepted=10 + number)
        one.page.wait_for_selector(f"#alert-{newer}")
        one.page.wait_for_selector(f"{old[1]}.selected")
    assert chosen(one) == [old[1][1:]]
    one.page.keyboard.press("j")
    assert chosen(one) == [old[0][1:]]


def test_the_first_row_is_chosen_from_where_the_focus_is(tab: OpenTab, ledger: Ledger) -> None:
    alerts = [add_alert(ledger.url, str(n), accepted=n) for n in range(3)]
    one = tab()
    one.go("/")
    one.page.focus(f"#alert-{alerts[1]} a")
    one.page.keyboard.press("j")
    assert chosen(one) == [f"alert-{alerts[0]}"]


def test_a_trace_may_be_read_while_lines_come(tab: OpenTab, traces: Traces) -> None:
    one = tab()
    one.go(f"/traces/{TRACE}")
    one.page.keyboard.press("j")
    one.page.focus("text=the alert")
    one.page.evaluate(MARK)
    before = chosen(one)
    for step in ("decided", "claimed"):
        traces.add(TRACE, [line(step)], {})
        one.page.wait_for_selector(f"text=told of {step}")
        one.page.wait_for_selector(".selected")
    assert chosen(one) == before != [""]
    assert one.page.evaluate("getSelection().toString()") == "told of accepted"
    assert one.page.evaluate("document.activeElement.textContent") == "the alert"


def test_a_trace_is_looked_at_until_its_last_line_and_ten_minutes(
    tab: OpenTab, pool: Pool, traces: Traces
) -> None:
    one = tab()
    one.go(f"/traces/{TRACE}")
    one.page.wait_for_selector("#lines[hx-trigger='every 1s']")
    end(pool, 1.0)
    one.page.wait_for_selector("#lines[hx-trigger='every 5s']")
    one.page.wait_for_selector("text=the topics are still being read up to its end")
    traces.add(TRACE, [over(now_ms())], {})
    one.page.wait_for_selector("text=the topics have been read up to the end of the trace")
    one.page.wait_for_selector("text=over; what was under way then is followed for")
    end(pool, FOLLOWED_SECONDS)
    one.page.wait_for_selector("#lines:not([hx-get])")
