"""Evidence by callbacks, from end to end: deliverer, provider, door and ledger as they are."""

import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx2
import pytest

from services.contracts.records import Delivery
from services.contracts.states import State
from services.simulator.inbox.texting.callbacks import signature
from tests.integration.deliverer.conftest import Start
from tests.integration.deliverer.inboxes import Inbox, playing
from tests.integration.deliverer.ledgers import Ledger, new_ledger
from tests.integration.deliverer.texting import TOKEN, Door, codes, open_door, started, text
from tests.integration.deliverer.waiting import until
from tests.postgres import OwnPostgres

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]


@pytest.fixture
def inbox(tmp_path: Path) -> Iterator[Inbox]:
    with playing(tmp_path / "inbox") as inbox:
        yield inbox


@pytest.fixture
def door(ledger: Ledger, tmp_path: Path) -> Iterator[Door]:
    with open_door(ledger, tmp_path) as door:
        yield door


def sending(start: Start, inbox: Inbox, door: Door, **more: object) -> None:
    """Start a deliverer that waits long for evidence."""
    settings = {"callbacks_public_url": door.url, "in_doubt_deadline_seconds": 600}
    started(start, inbox.url, **(settings | more))


def evidence(ledger: Ledger, one: Delivery) -> Counter[str]:
    rows = ledger.rows("SELECT * FROM evidence")
    return Counter(row["kind"] for row in rows if row["delivery_id"] == one.delivery_id)


@pytest.mark.promise("evidence", "sms")
def test_after_a_lost_answer_the_callback_alone_proves_that_it_was_taken(
    start: Start, ledger: Ledger, inbox: Inbox, door: Door
) -> None:
    inbox.dial("twilio", accept_then_drop_share=1)
    sent = [text(number) for number in range(10)]
    ledger.add(*sent)
    sending(start, inbox, door)
    until(lambda: set(ledger.states().values()) == {State.CONFIRMED}, "all confirmed")
    assert inbox.taken("twilio") == Counter(each.delivery_id for each in sent)
    for each in sent:
        assert [row["outcome"] for row in ledger.attempts(each)] == ["CONFIRMED"]
        assert ledger.row(each)["provider_id"].startswith("SM")
        assert evidence(ledger, each) == Counter(TAKEN=1, CONFIRMED=1)


@pytest.mark.parametrize(
    "dials",
    [
        {"callbacks": "before", "delay_seconds": 0.5},
        {"callbacks": "before", "delay_seconds": 0.5, "accept_then_drop_share": 1},
        {"callback_times": 2},
        {"callbacks_reversed": True, "callback_times": 2},
        {"callbacks": "before", "callbacks_reversed": True, "accept_then_drop_share": 1},
    ],
    ids=["before", "before-and-drop", "twice", "out-of-sequence", "all"],
)
def test_callbacks_before_the_answer_twice_and_out_of_sequence_do_no_harm(
    start: Start, ledger: Ledger, inbox: Inbox, door: Door, dials: dict[str, object]
) -> None:
    inbox.dial("twilio", **dials)
    one = text(1)
    ledger.add(one)
    sending(start, inbox, door)
    until(lambda: ledger.states() == {one.delivery_id: State.CONFIRMED}, "confirmed")
    until(lambda: evidence(ledger, one) == Counter(TAKEN=1, CONFIRMED=1), "all told")
    assert inbox.taken("twilio") == Counter([one.delivery_id])
    assert ledger.states() == {one.delivery_id: State.CONFIRMED}


@pytest.mark.parametrize("dropped", [0, 1])
def test_what_the_carrier_could_not_deliver_fails_and_says_why(
    start: Start, ledger: Ledger, inbox: Inbox, door: Door, dropped: int
) -> None:
    inbox.dial("twilio", undelivered_share=1, error_code=30006, accept_then_drop_share=dropped)
    one = text(1)
    ledger.add(one)
    sending(start, inbox, door)
    until(lambda: ledger.states() == {one.delivery_id: State.FAILED}, "failed")
    assert "a landline" in ledger.row(one)["reason"]
    assert inbox.taken("twilio") == Counter([one.delivery_id])


def test_forged_callbacks_change_nothing(
    start: Start, ledger: Ledger, inbox: Inbox, door: Door
) -> None:
    inbox.dial("twilio", accept_then_drop_share=1, callbacks_forged=True)
    one = text(1)
    ledger.add(one)
    sending(start, inbox, door)
    until(lambda: door.answered("forged") == 3, "all three are refused")
    until(lambda: ledger.states()[one.delivery_id] != State.CLAIMED, "its end is recorded")
    assert ledger.states() == {one.delivery_id: State.IN_DOUBT}
    assert evidence(ledger, one) == Counter()
    assert inbox.taken("twilio") == Counter([one.delivery_id])


@pytest.mark.promise("after_doubt", "sms")
def test_without_any_evidence_it_is_held_until_a_late_callback_comes(
    start: Start, ledger: Ledger, inbox: Inbox, door: Door
) -> None:
    inbox.dial("twilio", accept_then_drop_share=1, callbacks="never")
    one = text(1)
    ledger.add(one)
    sending(start, inbox, door, in_doubt_deadline_seconds=0.1)
    until(lambda: ledger.states() == {one.delivery_id: State.HELD}, "held")
    assert call(door, one, "delivered") == 204
    assert ledger.states() == {one.delivery_id: State.CONFIRMED}
    assert call(door, text(2), "delivered") == 404
    assert call(door, one, "failed") == 204
    assert ledger.states() == {one.delivery_id: State.CONFIRMED}


def test_killed_mid_request_the_callback_proves_it_and_nobody_sends_again(
    start: Start, ledger: Ledger, inbox: Inbox, door: Door
) -> None:
    inbox.dial("twilio", delay_seconds=30, callbacks="before")
    one = text(1)
    ledger.add(one)
    more = {"callbacks_public_url": door.url, "in_doubt_deadline_seconds": 600}
    killed = started(start, inbox.url, **more)
    until(lambda: evidence(ledger, one) == Counter(TAKEN=1, CONFIRMED=1), "called back")
    killed.end(signal.SIGKILL)
    ledger.end_leases()
    inbox.dial("twilio", delay_seconds=0)
    started(start, inbox.url, **more)
    until(lambda: ledger.states() == {one.delivery_id: State.CONFIRMED}, "confirmed")
    assert inbox.taken("twilio") == Counter([one.delivery_id])


@pytest.mark.promise("evidence", "sms")
def test_without_callbacks_the_list_ends_the_doubt(
    start: Start, ledger: Ledger, inbox: Inbox
) -> None:
    inbox.dial("twilio", accept_then_drop_share=1)
    sent = [text(number) for number in range(5)]
    ledger.add(*sent)
    looking = {"sms_look_up_after_seconds": "[0.2, 2, 10]", "in_doubt_deadline_seconds": 600}
    started(start, inbox.url, **looking)
    until(lambda: set(ledger.states().values()) == {State.SENT}, "all sent")
    assert inbox.taken("twilio") == codes(*sent)
    assert all("listed as SM" in row["reason"] for row in ledger.rows())


def test_what_the_list_shows_as_given_up_fails(start: Start, ledger: Ledger, inbox: Inbox) -> None:
    inbox.dial("twilio", accept_then_drop_share=1, undelivered_share=1, list_hides_seconds=0.5)
    one = text(1)
    ledger.add(one)
    looking = {"sms_look_up_after_seconds": "[0.2, 1.5, 10]", "in_doubt_deadline_seconds": 600}
    started(start, inbox.url, **looking)
    until(lambda: ledger.states() == {one.delivery_id: State.FAILED}, "failed")
    assert "cannot be reached" in ledger.row(one)["reason"]
    assert inbox.taken("twilio") == codes(one)


def call(door: Door, one: Delivery, status: str) -> int:
    """Call back as Twilio does, and return the answer's status."""
    address = f"{door.url}/twilio/{one.delivery_id}?attempt=1"
    form = {"MessageSid": "SM1", "MessageStatus": status}
    headers = {"X-Twilio-Signature": signature(address, form, TOKEN)}
    return httpx2.post(address, data=form, headers=headers, timeout=30).status_code


@pytest.fixture
def ledger_to_stop(own_postgres: OwnPostgres) -> Iterator[Ledger]:
    """A ledger in a Postgres that may stop."""
    with closing(new_ledger(own_postgres)) as made:
        yield made


def test_while_postgres_is_away_twilio_is_to_say_it_again(
    ledger_to_stop: Ledger, own_postgres: OwnPostgres, tmp_path: Path
) -> None:
    ledger = ledger_to_stop
    one = text(1)
    ledger.add(one)
    ledger.execute("UPDATE deliveries SET state = 'IN_DOUBT', attempt = 1")
    own_postgres.stop()
    with open_door(ledger, tmp_path, ready=False) as door:
        until(lambda: "does not answer" in door.page("/healthz/ready")[1], "open, ledger away")
        assert call(door, one, "sent") == 503
        assert door.page("/healthz/ready")[0] == 503
        own_postgres.start()
        until(lambda: door.page("/healthz/ready")[0] == 200, "ready")
        assert call(door, one, "sent") == 204
        assert ledger.states() == {one.delivery_id: State.SENT}
        assert door.end() == 0
        assert TOKEN not in door.log_file.read_text()


def test_it_says_what_it_needs(ledger: Ledger, tmp_path: Path) -> None:
    log = tmp_path / "callbacks.log"
    bare = Door({"ALDEBARAN_POSTGRES_URL": ledger.url}, log, module="services.callbacks")
    bare.start(ready=False)
    assert bare.process is not None
    assert bare.process.wait(60) == 78
    assert "set ALDEBARAN_SMS_AUTH_TOKEN and ALDEBARAN_CALLBACKS_PUBLIC_URL" in log.read_text()
