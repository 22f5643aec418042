"""E-mail by a relay of our own, a real Postfix: its log ends doubts."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from services.backbone.clock import SystemClock
from services.contracts.states import State
from services.deliverer.channel import Absent, Doubt, Message, SendWindow, Unclear
from services.deliverer.channels.email.channel import EmailChannel
from services.deliverer.channels.email.settings import EmailSettings
from services.deliverer.outcomes import Accepted
from tests.integration import postfix
from tests.integration.deliverer.conftest import Relay, Start
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.waiting import DEADLINE_SECONDS, until
from tests.integration.postfix import Postfix
from tests.matrix.relays import FINAL_DOT
from tests.passage import Passage
from tests.unit.deliverer.builders import delivery

pytestmark = [pytest.mark.kafka, pytest.mark.postgres, pytest.mark.postfix]

DESK = "desk@example.com"


@pytest.fixture
def own(relay: Relay) -> Iterator[Postfix]:
    """Our relay, which hands on to one that counts."""
    if wrong := postfix.complaint():
        pytest.skip(wrong)
    running = Postfix(relay.port)
    running.start()
    yield running
    running.stop()


@pytest.fixture
def passage(own: Postfix) -> Iterator[Passage]:
    """The way to our relay; it swallows what is said to the final dot, until it hangs up."""
    with Passage(own.port).listening() as passage:
        passage.armed = FINAL_DOT
        yield passage


def rests_in(ledger: Ledger, *states: State) -> Callable[[], bool]:
    return lambda: set(ledger.states().values()) <= set(states)


@pytest.mark.promise("evidence", "email")
def test_taken_and_the_answer_lost_the_log_ends_the_doubt(
    start: Start, ledger: Ledger, relay: Relay, own: Postfix, passage: Passage
) -> None:
    one = delivery(1, channel="email", recipient=DESK)
    ledger.add(one)
    start("email", email_port=passage.port, **evidence(own))
    until(lambda: relay.mailbox.taken() == Counter([one.delivery_id]), "taken")
    passage.hang_up()
    until(rests_in(ledger, State.SENT, State.CONFIRMED), "sent by evidence")
    assert relay.mailbox.taken() == Counter([one.delivery_id])
    (evidence_row,) = ledger.rows("SELECT * FROM evidence")
    assert evidence_row["kind"] == "TAKEN"
    assert f"sent to {DESK}" in evidence_row["detail"]


@pytest.mark.promise("evidence", "email")
def test_taken_and_bounced_it_fails_with_the_far_ends_words(
    start: Start, ledger: Ledger, relay: Relay, own: Postfix, passage: Passage
) -> None:
    relay.mailbox.on_content = "550 5.7.1 never"
    one = delivery(1, channel="email", recipient=DESK)
    ledger.add(one)
    start("email", email_port=passage.port, **evidence(own))
    until(lambda: b"status=bounced" in own.log_file.read_bytes(), "bounced")
    passage.hang_up()
    until(rests_in(ledger, State.FAILED), "failed by evidence")
    assert "5.7.1" in ledger.row(one)["reason"]


def evidence(own: Postfix) -> dict[str, object]:
    return {
        "email_relay_log": own.log_file,
        "email_look_up_after_seconds": "[0.1, 0.5, 1, 2, 4]",
        "in_doubt_deadline_seconds": 60,
    }


@pytest.mark.promise("evidence", "email")
async def test_what_never_came_is_proven_absent_when_the_log_covers_its_time(own: Postfix) -> None:
    clock = SystemClock()
    settings = EmailSettings(
        email_port=own.port, email_relay_log=own.log_file, email_absence_seconds=60.0
    )
    channel = EmailChannel(settings, clock)
    await taken(channel)
    await channel.close()
    never = delivery(2, channel="email", recipient=DESK)
    now_ms = clock.now_ms()
    doubt = Doubt(never, 1, now_ms - 90_000, now_ms - 61_000)
    young = await channel.look_up(doubt)
    assert isinstance(young, Unclear)
    assert "does not go back" in young.detail
    rotated = own.log_file.with_name("mail.log.1")
    rotated.write_text("2020-01-01T00:00:00+00:00 relay postfix/master[1]: daemon started\n")
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not isinstance(await channel.look_up(doubt), Absent):
            await asyncio.sleep(0.1)


async def taken(channel: EmailChannel) -> None:
    """Send a mail, so that the log has one of ours."""
    clock = SystemClock()
    window = SendWindow(clock, clock.monotonic_seconds() + 60)
    other = delivery(1, channel="email", recipient=DESK)
    assert isinstance(await channel.send(Message(other, 1), window), Accepted)
