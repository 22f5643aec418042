"""The e-mail channel from end to end: a real process, ledger, relay, and an exact count."""

import signal
import ssl
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from services.contracts.states import State
from services.machine.ports import free_ports
from tests.integration.deliverer.conftest import Relay, Start
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.waiting import until
from tests.unit.deliverer.builders import delivery

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]

DESK = "desk@example.com"
CERTIFICATE = Path(__file__).with_name("relay.pem")
"""Vouches for itself as 127.0.0.1 until 2126; its key is there too and is nobody's secret."""


def rests_in(ledger: Ledger, *states: State) -> Callable[[], bool]:
    return lambda: set(ledger.states().values()) <= set(states)


@pytest.mark.promise("our_id", "email")
def test_a_mail_is_sent_once_with_its_id_and_every_dot(
    start: Start, ledger: Ledger, relay: Relay
) -> None:
    text = "first\n.\n.hidden\nStra\u00dfe \u4e2d"
    one = delivery(1, channel="email", recipient=DESK, text=text)
    ledger.add(one)
    start("email", email_port=relay.port, email_sender="watch@aldebaran.example")
    until(rests_in(ledger, State.SENT), "sent")
    (taken,) = relay.mailbox.mails
    assert taken["Message-ID"] == f"<{one.delivery_id}@aldebaran.example>"
    assert taken["To"] == DESK
    assert relay.mailbox.recipients == [DESK]
    content = taken.get_payload(decode=True)
    assert isinstance(content, bytes)
    assert content.decode().replace("\r\n", "\n").strip() == text
    assert "4711" in ledger.row(one)["provider_id"]


@pytest.mark.promise("in_doubt", "email")
def test_lost_after_the_final_dot_is_held_and_never_sent_again(
    start: Start, ledger: Ledger, relay: Relay
) -> None:
    relay.mailbox.drop_after_dot = True
    one = delivery(1, channel="email", recipient=DESK)
    ledger.add(one)
    start("email", email_port=relay.port)
    until(rests_in(ledger, State.HELD), "held")
    assert relay.mailbox.taken() == Counter([one.delivery_id])
    assert "final dot" in ledger.attempts(one)[0]["reason"]


@pytest.mark.promise("not_taken", "email")
@pytest.mark.parametrize("step", ["on_recipient", "on_content"])
def test_what_the_relay_does_not_take_yet_is_tried_again(
    start: Start, ledger: Ledger, relay: Relay, step: str
) -> None:
    setattr(relay.mailbox, step, "451 come again")
    one = delivery(1, channel="email", recipient=DESK)
    ledger.add(one)
    start("email", email_port=relay.port, attempts_limit=1000)
    until(lambda: len(ledger.attempts(one)) > 2, "tried again")
    setattr(relay.mailbox, step, "250 fine now")
    until(rests_in(ledger, State.SENT), "sent")
    assert relay.mailbox.taken() == Counter([one.delivery_id])


@pytest.mark.promise("permanent", "email")
@pytest.mark.parametrize("step", ["on_recipient", "on_content"])
def test_what_the_relay_refuses_for_good_fails(
    start: Start, ledger: Ledger, relay: Relay, step: str
) -> None:
    setattr(relay.mailbox, step, "550 never")
    one = delivery(1, channel="email", recipient=DESK)
    ledger.add(one)
    start("email", email_port=relay.port)
    until(rests_in(ledger, State.FAILED), "failed")
    assert len(ledger.attempts(one)) == 1
    assert "550 never" in ledger.row(one)["reason"]


def test_an_answer_that_is_no_utf8_is_recorded_like_any_other(
    start: Start, ledger: Ledger, relay: Relay
) -> None:
    relay.mailbox.encoding = "latin-1"
    relay.mailbox.on_content = "250 f\xfcr Sie als 4711"
    taken, refused = (delivery(n, channel="email", recipient=DESK) for n in range(2))
    ledger.add(taken)
    deliverer = start("email", email_port=relay.port)
    until(rests_in(ledger, State.SENT), "sent")
    assert ledger.row(taken)["provider_id"] == "f?r Sie als 4711"
    relay.mailbox.on_content = "550 nicht f\xfcr uns"
    ledger.add(refused)
    until(rests_in(ledger, State.SENT, State.FAILED), "refused")
    assert ledger.row(refused)["reason"] == "the relay answered 550 nicht f?r uns"
    assert relay.mailbox.taken() == Counter([taken.delivery_id])
    assert deliverer.end() == 0


def test_a_zombie_that_wakes_after_its_lease_sends_nothing(
    start: Start, ledger: Ledger, relay: Relay
) -> None:
    """Stopped between its claim and the content; meanwhile another owner has put it in doubt."""
    relay.mailbox.greet.clear()
    one = delivery(1, channel="email", recipient=DESK)
    ledger.add(one)
    short = {"email_port": relay.port, "send_timeout_seconds": 2, "lease_seconds": 4}
    zombie = start("email", in_doubt_deadline_seconds=3600, **short)
    until(relay.mailbox.greeted.is_set, "the session has begun")
    zombie.send_signal(signal.SIGSTOP)
    start("email", ready=False, in_doubt_deadline_seconds=3600, **short)
    until(rests_in(ledger, State.IN_DOUBT), "in doubt")
    relay.mailbox.greet.set()
    zombie.send_signal(signal.SIGCONT)
    until(rests_in(ledger, State.SENT), "sent, since the zombie's word proves the first unsent")
    assert relay.mailbox.taken() == Counter([one.delivery_id])
    *unsent, sent = (each["outcome"] for each in ledger.attempts(one))
    # Of later tries too some may take longer than these short times, which sends nothing either.
    assert (set(unsent), sent) == ({State.RETRY_WAIT}, State.SENT)
    assert not ledger.row(one)["marked_repeat"]


def test_killed_after_the_claim_and_before_the_content_it_is_in_doubt_for_a_person(
    start: Start, ledger: Ledger, relay: Relay
) -> None:
    relay.mailbox.greet.clear()
    one = delivery(1, channel="email", recipient=DESK)
    ledger.add(one)
    first = start("email", email_port=relay.port)
    until(relay.mailbox.greeted.is_set, "the session has begun")
    first.end(signal.SIGKILL)
    ledger.end_leases()
    relay.mailbox.greet.set()
    start("email", email_port=relay.port)
    until(rests_in(ledger, State.HELD), "held")
    assert relay.mailbox.taken() == Counter()


def test_with_starttls_the_password_goes_over_a_checked_connection(
    start: Start, ledger: Ledger
) -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(CERTIFICATE)
    relay = Relay(free_ports(1)[0])
    right, wrong = (delivery(n, channel="email", recipient=DESK) for n in range(2))
    user = {"email_username": "aldebaran", "email_password": "very-secret-1234"}
    tls = {"email_port": relay.port, "email_tls": "starttls", **user}
    with relay.mailbox.listening(relay.port, tls=context, user=("aldebaran", "very-secret-1234")):
        ledger.add(right)
        trusting = start("email", email_ca_file=CERTIFICATE, **tls)
        until(rests_in(ledger, State.SENT), "sent")
        assert trusting.end() == 0
        ledger.add(wrong)
        doubting = start("email", attempts_limit=2, **tls)
        until(rests_in(ledger, State.SENT, State.HELD), "held")
    assert relay.mailbox.taken() == Counter([right.delivery_id])
    assert "certificate" in ledger.row(wrong)["reason"].lower()
    assert "very-secret-1234" not in trusting.log_file.read_text() + doubting.log_file.read_text()
