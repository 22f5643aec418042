"""The nrdp channel from end to end: real processes against an NRDP that counts exactly."""

import signal
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from services.contracts.records import Severity
from services.contracts.states import State
from services.simulator.inbox.providers.nrdp import TOKEN
from tests.integration.deliverer.conftest import Start
from tests.integration.deliverer.inboxes import Inbox, playing
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.programs import DelivererProcess
from tests.integration.deliverer.waiting import until
from tests.unit.deliverer.builders import delivery

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]
WATCH = "aldebaran/over-purchase"


@pytest.fixture
def inbox(tmp_path: Path) -> Iterator[Inbox]:
    with playing(tmp_path / "inbox") as inbox:
        yield inbox


def started(start: Start, inbox: Inbox, **more: object) -> DelivererProcess:
    told = {"nrdp_url": inbox.url + "/nrdp/", "nrdp_token": TOKEN}
    return start("nrdp", **(told | more))


def rests_in(ledger: Ledger, *states: State) -> Callable[[], bool]:
    return lambda: set(ledger.states().values()) <= set(states)


def test_each_delivery_is_one_check_result(start: Start, ledger: Ledger, inbox: Inbox) -> None:
    sent = [delivery(number, "nrdp", WATCH) for number in range(10)]
    down = delivery(10, "nrdp", "machine")
    ledger.add(*sent, down)
    deliverer = started(start, inbox, log_level="debug")
    until(rests_in(ledger, State.SENT), "sent")
    assert inbox.taken("nrdp") == Counter(each.delivery_id for each in (*sent, down))
    results = inbox.get("/nrdp/results")
    assert isinstance(results, list)
    kinds = Counter(each["checkresult"]["type"] for each in results)
    assert kinds == Counter(service=10, host=1)
    assert TOKEN not in deliverer.log_file.read_text() + str(ledger.rows())


@pytest.mark.promise("after_doubt", "nrdp")
def test_taken_but_not_answered_is_held_or_repeated_with_a_mark(
    start: Start, ledger: Ledger, inbox: Inbox
) -> None:
    inbox.dial("nrdp", accept_then_drop_share=1)
    lesser = delivery(1, "nrdp", WATCH)
    urgent = delivery(2, "nrdp", WATCH, Severity.CRITICAL)
    ledger.add(lesser, urgent)
    started(start, inbox)
    until(rests_in(ledger, State.HELD), "held")
    assert inbox.taken("nrdp") == Counter({lesser.delivery_id: 1, urgent.delivery_id: 2})
    marked = [each for each in inbox.arrivals("nrdp") if "possible+repeat" in each.body]
    assert [each.delivery_id for each in marked] == [urgent.delivery_id]


def test_where_a_repeat_does_no_harm_it_comes_again(
    start: Start, ledger: Ledger, inbox: Inbox
) -> None:
    inbox.dial("nrdp", accept_then_drop_share=1)
    one = delivery(1, "nrdp", WATCH)
    ledger.add(one)
    started(start, inbox, attempts_limit=1000, nrdp_dedupes="true")
    until(lambda: inbox.taken("nrdp").total() >= 2, "again")
    inbox.dial("nrdp", accept_then_drop_share=0)
    until(rests_in(ledger, State.SENT), "sent")


@pytest.mark.parametrize("status", [429, 503, 403])
def test_refused_for_now_it_is_sent_later_and_once(
    start: Start, ledger: Ledger, inbox: Inbox, status: int
) -> None:
    inbox.dial("nrdp", refuse_share=1, refuse_status=status, retry_after_seconds=0)
    one = delivery(1, "nrdp", WATCH)
    ledger.add(one)
    started(start, inbox, attempts_limit=1000)
    until(lambda: len(ledger.attempts(one)) >= 2, "tried again")
    inbox.dial("nrdp", refuse_share=0)
    until(rests_in(ledger, State.SENT), "sent")
    assert inbox.taken("nrdp") == Counter([one.delivery_id])


def test_a_server_error_is_a_doubt(start: Start, ledger: Ledger, inbox: Inbox) -> None:
    inbox.dial("nrdp", refuse_share=1, refuse_status=500)
    one = delivery(1, "nrdp", WATCH)
    ledger.add(one)
    started(start, inbox)
    until(rests_in(ledger, State.HELD), "held")
    assert len(ledger.attempts(one)) == 1


@pytest.mark.promise("not_taken", "nrdp")
def test_a_wrong_token_waits_and_is_told(start: Start, ledger: Ledger, inbox: Inbox) -> None:
    one = delivery(1, "nrdp", WATCH)
    ledger.add(one)
    deliverer = started(start, inbox, nrdp_token="very-secret-1234", attempts_limit=2)
    until(rests_in(ledger, State.HELD), "held")
    assert "BAD TOKEN" in ledger.row(one)["reason"]
    assert not inbox.taken("nrdp")
    assert "very-secret-1234" not in deliverer.log_file.read_text()


def test_killed_while_nrdp_holds_it_nobody_sends_it_again(
    start: Start, ledger: Ledger, inbox: Inbox
) -> None:
    inbox.dial("nrdp", delay_seconds=600)
    one = delivery(1, "nrdp", WATCH)
    ledger.add(one)
    first = started(start, inbox)
    until(lambda: inbox.arrivals("nrdp"), "it is read")
    first.end(signal.SIGKILL)
    ledger.end_leases()
    inbox.dial("nrdp", delay_seconds=0)
    started(start, inbox)
    until(rests_in(ledger, State.HELD), "held")
    assert inbox.taken("nrdp") == Counter([one.delivery_id])
