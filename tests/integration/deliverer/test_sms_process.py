"""The sms channel from end to end: a real process against an account that counts exactly."""

import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from services.contracts.records import Delivery
from services.contracts.states import State
from services.machine.ports import free_ports
from tests.integration.deliverer.conftest import Bus, Start
from tests.integration.deliverer.inboxes import Inbox, playing
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.texting import TOKEN, codes, started, text
from tests.integration.deliverer.waiting import until

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]

OPTED_OUT = "+15005550004"
NO_MOBILE = "+15005550009"


@pytest.fixture
def inbox(tmp_path: Path) -> Iterator[Inbox]:
    with playing(tmp_path / "inbox") as inbox:
        yield inbox


def at_rest(ledger: Ledger, *states: State) -> bool:
    return set(ledger.states().values()) <= set(states)


def refusing(status: int, **more: object) -> dict[str, Any]:
    return {"refuse_share": 1, "refuse_status": status, **more}


def test_each_is_sent_once_and_the_token_is_told_nowhere(
    start: Start, bus: Bus, ledger: Ledger, inbox: Inbox
) -> None:
    deliverer = started(start, inbox.url, log_level="debug")
    sent = [text(number) for number in range(20)]
    ledger.add(*sent)
    bus.tell([*sent, *sent])
    until(lambda: at_rest(ledger, State.SENT), "all sent")
    assert inbox.taken("twilio") == codes(*sent)
    assert all(row["provider_id"].startswith("SM") for row in ledger.rows())
    assert deliverer.end() == 0
    assert TOKEN not in deliverer.log_file.read_text() + str(ledger.rows())


@pytest.mark.promise("in_doubt", "sms")
@pytest.mark.parametrize("status", [500, 503])
def test_a_server_error_or_a_lost_answer_is_held_and_never_sent_again(
    start: Start, ledger: Ledger, inbox: Inbox, status: int
) -> None:
    inbox.dial("twilio", **refusing(status))
    failing = text(1)
    ledger.add(failing)
    started(start, inbox.url)
    until(lambda: at_rest(ledger, State.HELD), "held")
    assert str(status) in ledger.attempts(failing)[0]["reason"]
    inbox.dial("twilio", refuse_share=0, accept_then_drop_share=1)
    dropped = text(2)
    ledger.add(dropped)
    until(lambda: at_rest(ledger, State.HELD), "both held")
    assert inbox.taken("twilio") == codes(dropped)
    assert [row["outcome"] for row in ledger.attempts(dropped)] == ["IN_DOUBT"]


@pytest.mark.promise("not_taken", "sms")
def test_too_many_requests_wait_as_long_as_twilio_asks(
    start: Start, ledger: Ledger, inbox: Inbox
) -> None:
    inbox.dial("twilio", **refusing(429, retry_after_seconds=1))
    one = text(1)
    ledger.add(one)
    started(start, inbox.url)
    until(lambda: at_rest(ledger, State.RETRY_WAIT), "refused")
    inbox.dial("twilio", refuse_share=0)
    until(lambda: at_rest(ledger, State.SENT), "sent")
    assert inbox.taken("twilio") == codes(one)
    first, *_, last = ledger.attempts(one)
    assert (first["outcome"], last["outcome"]) == ("RETRY_WAIT", "SENT")
    assert (last["claimed_at"] - first["finished_at"]).total_seconds() >= 1


@pytest.mark.promise("permanent", "sms")
def test_numbers_that_can_never_get_a_text_fail_and_others_do_not(
    start: Start, ledger: Ledger, inbox: Inbox
) -> None:
    out, landline, fine = text(1, OPTED_OUT), text(2, NO_MOBILE), text(3)
    ledger.add(out, landline, fine)
    started(start, inbox.url)
    until(lambda: at_rest(ledger, State.FAILED, State.SENT), "all at rest")
    assert inbox.taken("twilio") == codes(fine)
    assert "21610" in ledger.row(out)["reason"]
    assert "21614" in ledger.row(landline)["reason"]


@pytest.mark.promise("not_taken", "sms")
def test_refused_credentials_wait_until_they_are_put_right(
    start: Start, ledger: Ledger, inbox: Inbox
) -> None:
    sent = [text(number) for number in range(5)]
    ledger.add(*sent)
    wrong = started(start, inbox.url, sms_auth_token="old-token", attempts_limit=1000)
    until(lambda: wrong.metric("aldebaran_deliverer_breakers_open{") == 1, "breaker open")
    assert any("sms_auth_token" in row["reason"] for row in ledger.rows())
    assert wrong.end() == 0
    started(start, inbox.url)
    until(lambda: at_rest(ledger, State.SENT), "all sent")
    assert inbox.taken("twilio") == codes(*sent)


def test_where_nobody_listens_nothing_is_lost_or_doubled(
    start: Start, ledger: Ledger, tmp_path: Path
) -> None:
    (port,) = free_ports(1)
    one = text(1)
    ledger.add(one)
    dead = started(start, f"http://127.0.0.1:{port}", attempts_limit=1000)
    until(lambda: len(ledger.attempts(one)) > 1, "tried twice")
    assert dead.end() == 0
    with playing(tmp_path / "inbox") as inbox:
        started(start, inbox.url)
        until(lambda: at_rest(ledger, State.SENT), "sent")
        assert inbox.taken("twilio") == codes(one)


def test_killed_while_it_waits_for_the_answer_it_is_not_sent_again(
    start: Start, ledger: Ledger, inbox: Inbox
) -> None:
    inbox.dial("twilio", delay_seconds=20)
    one = text(1)
    ledger.add(one)
    killed = started(start, inbox.url)
    until(lambda: inbox.taken("twilio").total() == 1, "taken")
    killed.end(signal.SIGKILL)
    ledger.end_leases()
    inbox.dial("twilio", delay_seconds=0)
    started(start, inbox.url)
    until(lambda: at_rest(ledger, State.HELD, State.SENT), "no longer open")
    assert inbox.taken("twilio") == codes(one)


def test_a_slow_answer_is_a_doubt(start: Start, ledger: Ledger, inbox: Inbox) -> None:
    inbox.dial("twilio", delay_seconds=600)
    one = text(1)
    ledger.add(one)
    started(start, inbox.url, send_timeout_seconds=1)
    until(lambda: doubts(ledger, one), "it waits no longer for the answer")
    inbox.dial("twilio", delay_seconds=0)
    (why,) = doubts(ledger, one)
    assert "no answer in time" in why or "Read timed out" in why
    until(lambda: at_rest(ledger, State.HELD, State.SENT), "no longer open")
    assert inbox.taken("twilio") == codes(one)


def doubts(ledger: Ledger, one: Delivery) -> list[str]:
    """Return why each of its tries was in doubt."""
    return [each["reason"] for each in ledger.attempts(one) if each["outcome"] == "IN_DOUBT"]


@pytest.mark.promise("our_id", "sms")
def test_the_request_is_as_promised(start: Start, ledger: Ledger, inbox: Inbox) -> None:
    one = text(1)
    ledger.add(one)
    door = "https://hooks.example.org/aldebaran"
    started(start, inbox.url, callbacks_public_url=door, sms_validity_seconds=900)
    until(lambda: at_rest(ledger, State.SENT), "sent")
    assert inbox.taken("twilio") == Counter([one.delivery_id])
    (arrival,) = inbox.arrivals("twilio")
    form = arrival.body
    assert "ValidityPeriod=900" in form
    assert f"twilio%2F{one.delivery_id}%3Fattempt%3D1%23rc%3D5%26rp%3Dall" in form
