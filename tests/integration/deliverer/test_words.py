"""What people do with deliveries that wait for them."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

from services.backbone.kafka.producer import Outgoing
from services.contracts import topics
from services.contracts.records import DeliveryEvent
from services.contracts.states import State
from tests.integration.deliverer.conftest import Bus, Start
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.receivers import DROP, OK, Answer, WebhookReceiver
from tests.integration.deliverer.waiting import until
from tests.integration.nursery import nursery
from tests.unit.deliverer.builders import delivery

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]


@dataclass(frozen=True)
class Said:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


Command = Callable[..., Said]


@pytest.fixture
def command(ledger: Ledger, tmp_path: Path) -> Command:
    """Give what runs one command of the deliverer's, each in a process of its own."""
    environment = {"ALDEBARAN_CHANNEL": "webhook", "ALDEBARAN_POSTGRES_URL": ledger.url}
    numbers = count()

    def run(*arguments: str) -> Said:
        log = tmp_path / f"command-{next(numbers)}.log"
        output = log.with_suffix(".out")
        started = nursery().start(
            "services.deliverer", arguments, os.environ | environment, log, output
        )
        return Said(started.wait(60), output.read_text(), log.read_text())

    return run


def test_a_person_resends_with_the_mark_where_a_try_may_have_been_taken(
    start: Start, bus: Bus, ledger: Ledger, receiver: WebhookReceiver, command: Command
) -> None:
    added = [delivery(n, recipient=receiver.url) for n in range(4)]
    doubtful, failed, closed, arrived = added
    faults = {doubtful.delivery_id: DROP, failed.delivery_id: Answer(status=404, taken=False)}
    receiver.script = lambda number, key: faults.get(key, Answer(status=500))
    ledger.add(*added)
    start("webhook")
    until(lambda: set(ledger.states().values()) <= {State.HELD, State.FAILED}, "all at rest")
    listed = command("held").stdout
    assert all(each.delivery_id in listed for each in added)

    receiver.script = lambda number, key: OK
    for each in (doubtful, failed):
        assert command("resend", each.delivery_id, "--why", "not there").returncode == 0
    assert command("close", closed.delivery_id, "--why", "seen").returncode == 0
    assert command("arrived", arrived.delivery_id, "--why", "seen").returncode == 0
    sent = {each.delivery_id: State.SENT for each in (doubtful, failed, arrived)}
    until(lambda: ledger.states() == sent | {closed.delivery_id: State.CLOSED}, "all done")
    bodies = {each.key: each.body for each in receiver.requests}
    assert b"[possible repeat]" in bodies[doubtful.delivery_id]
    assert b"[possible repeat]" not in bodies[failed.delivery_id]
    assert {row["why"] for row in ledger.rows("SELECT * FROM words")} == {"not there", "seen"}
    assert receiver.came()[arrived.delivery_id] == 1
    words = {(failed.delivery_id, State.FAILED, State.RETRY_WAIT)}
    words |= {(closed.delivery_id, State.HELD, State.CLOSED)}
    words |= {(arrived.delivery_id, State.HELD, State.SENT)}

    def told(records: list[Outgoing]) -> bool:
        events = [DeliveryEvent.decode(each.value) for each in records]
        return words <= {(each.delivery_id, each.before, each.after) for each in events}

    bus.read(topics.DELIVERY_EVENTS, told)


def test_only_what_waits_can_be_moved(ledger: Ledger, command: Command) -> None:
    one = delivery(1)
    ledger.add(one)
    answer = command("resend", one.delivery_id, "--why", "because")
    assert answer.returncode == 1
    assert "is HELD or FAILED or IN_DOUBT" in answer.stderr
    assert ledger.row(one)["state"] == State.PENDING
    assert command("resend", one.delivery_id).returncode == 2
    answer = command("arrived", one.delivery_id, "--why", "because")
    assert answer.returncode == 1
    assert ledger.rows("SELECT * FROM evidence") == []


def test_the_longest_word_of_a_person_with_the_longest_name_is_told(
    start: Start, bus: Bus, ledger: Ledger, receiver: WebhookReceiver, command: Command
) -> None:
    receiver.script = lambda number, key: DROP if number == 1 else OK
    one = delivery(1, recipient=receiver.url)
    ledger.add(one)
    deliverer = start("webhook")
    until(lambda: ledger.row(one)["state"] == State.HELD, "held")
    long = ("--who", "n" * 100, "--why", "w" * 400)
    assert command("absent", one.delivery_id, *long).returncode == 0
    until(lambda: ledger.row(one)["state"] == State.SENT, "sent again")

    def told(records: list[Outgoing]) -> bool:
        events = [DeliveryEvent.decode(each.value) for each in records]
        mine = [each for each in events if each.delivery_id == one.delivery_id]
        return any(each.reason.startswith("resend by nnn") for each in mine)

    bus.read(topics.DELIVERY_EVENTS, told)
    assert deliverer.runs
