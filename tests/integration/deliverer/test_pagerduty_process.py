"""The pagerduty channel from end to end: real processes against incidents that count exactly."""

import json
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from services.contracts.states import State
from services.deliverer.channels.pagerduty import EVENT_LIMIT_BYTES
from tests.integration.deliverer.conftest import Bus, Start
from tests.integration.deliverer.inboxes import Inbox, playing
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.programs import DelivererProcess
from tests.integration.deliverer.waiting import until
from tests.unit.deliverer.builders import delivery

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]

KEY = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def inbox(tmp_path: Path) -> Iterator[Inbox]:
    with playing(tmp_path / "inbox") as inbox:
        yield inbox


def started(start: Start, inbox: Inbox, **more: object) -> DelivererProcess:
    keys = json.dumps({"on-call": KEY, "wrong": "too-short"})
    url = inbox.url + "/pagerduty"
    return start("pagerduty", pagerduty_routing_keys=keys, pagerduty_url=url, **more)


def incidents(inbox: Inbox) -> list[dict[str, Any]]:
    found = inbox.get("/pagerduty/incidents")
    assert isinstance(found, list)
    return found


def at_rest(ledger: Ledger, *states: State) -> bool:
    return set(ledger.states().values()) <= set(states)


def test_each_opens_one_incident_and_the_key_is_told_nowhere(
    start: Start, bus: Bus, ledger: Ledger, inbox: Inbox
) -> None:
    deliverer = started(start, inbox, log_level="debug")
    sent = [delivery(n, "pagerduty", "on-call") for n in range(20)]
    ledger.add(*sent)
    bus.tell([*sent, *sent])
    until(lambda: at_rest(ledger, State.SENT), "all sent")
    assert inbox.taken("pagerduty") == Counter(each.delivery_id for each in sent)
    assert Counter(each["dedup_key"] for each in incidents(inbox)) == inbox.taken("pagerduty")
    assert {row["provider_id"] for row in ledger.rows()} == {each.delivery_id for each in sent}
    assert deliverer.end() == 0
    assert KEY not in deliverer.log_file.read_text() + str(ledger.rows())


@pytest.mark.promise("after_doubt", "pagerduty")
def test_taken_but_not_answered_it_joins_the_open_incident(
    start: Start, ledger: Ledger, inbox: Inbox
) -> None:
    inbox.dial("pagerduty", accept_then_drop_share=1)
    one = delivery(1, "pagerduty", "on-call")
    ledger.add(one)
    started(start, inbox, attempts_limit=1000)
    until(lambda: inbox.taken("pagerduty").total() >= 2, "the same key again")
    inbox.dial("pagerduty", accept_then_drop_share=0)
    until(lambda: at_rest(ledger, State.SENT), "sent")
    (incident,) = incidents(inbox)
    assert incident["triggers"] == inbox.taken("pagerduty")[one.delivery_id]
    assert len({each.body for each in inbox.arrivals("pagerduty")}) == 1
    assert not ledger.row(one)["marked_repeat"]


@pytest.mark.parametrize("status", [429, 503, 500])
def test_refused_for_now_it_is_sent_later_and_once(
    start: Start, ledger: Ledger, inbox: Inbox, status: int
) -> None:
    inbox.dial("pagerduty", refuse_share=1, refuse_status=status, retry_after_seconds=0)
    one = delivery(1, "pagerduty", "on-call")
    ledger.add(one)
    started(start, inbox, attempts_limit=1000)
    until(lambda: len(ledger.attempts(one)) >= 2, "tried again")
    inbox.dial("pagerduty", refuse_share=0)
    until(lambda: at_rest(ledger, State.SENT), "sent")
    assert inbox.taken("pagerduty") == Counter([one.delivery_id])


@pytest.mark.promise("permanent", "pagerduty")
def test_what_is_invalid_fails_with_what_pagerduty_said(
    start: Start, ledger: Ledger, inbox: Inbox
) -> None:
    wrong, unknown = (delivery(1, "pagerduty", name) for name in ("wrong", "nobody"))
    ledger.add(wrong, unknown)
    started(start, inbox)
    until(lambda: at_rest(ledger, State.FAILED), "failed")
    assert "routing_key" in ledger.row(wrong)["reason"]
    assert "pagerduty_routing_keys" in ledger.row(unknown)["reason"]
    assert not inbox.arrivals("pagerduty")


def test_killed_while_pagerduty_holds_it_another_joins_the_same_incident(
    start: Start, ledger: Ledger, inbox: Inbox
) -> None:
    inbox.dial("pagerduty", delay_seconds=600)
    one = delivery(1, "pagerduty", "on-call")
    ledger.add(one)
    first = started(start, inbox)
    until(lambda: inbox.arrivals("pagerduty"), "it is read")
    first.end(signal.SIGKILL)
    ledger.end_leases()
    inbox.dial("pagerduty", delay_seconds=0)
    started(start, inbox)
    until(lambda: at_rest(ledger, State.SENT), "sent")
    (incident,) = incidents(inbox)
    assert incident["triggers"] == 2


def test_an_event_too_large_goes_without_its_values(
    start: Start, ledger: Ledger, inbox: Inbox
) -> None:
    one = delivery(1, "pagerduty", "on-call")
    values = {"list": ["x" * 1000] * (EVENT_LIMIT_BYTES // 1000), "number": 2**70}
    large = one.model_copy(update={"alert": one.alert.model_copy(update={"values": values})})
    ledger.add(large)
    started(start, inbox)
    until(lambda: at_rest(ledger, State.SENT), "sent")
    (arrival,) = inbox.arrivals("pagerduty")
    assert len(arrival.body) < 10_000
    assert "too large" in arrival.body
