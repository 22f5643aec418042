"""Postgres stops for a while, or only reads: nothing is sent twice, nothing is lost.

It goes on by itself.
"""

import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from services.contracts.states import State
from tests.integration.deliverer.conftest import Bus, Start
from tests.integration.deliverer.ledgers import Ledger, new_ledger
from tests.integration.deliverer.programs import DelivererProcess
from tests.integration.deliverer.receivers import Answer, WebhookReceiver
from tests.integration.deliverer.waiting import until
from tests.postgres import OwnPostgres
from tests.unit.deliverer.builders import delivery

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]
Turn = Callable[[OwnPostgres], None]


@pytest.fixture
def ledger(own_postgres: OwnPostgres) -> Iterator[Ledger]:
    with closing(new_ledger(own_postgres)) as made:
        yield made


@pytest.mark.parametrize(
    ("away", "back"),
    [(OwnPostgres.stop, OwnPostgres.start), (OwnPostgres.only_read, OwnPostgres.write_again)],
)
def test_what_was_answered_while_the_ledger_was_away_is_recorded_when_it_is_back(
    start: Start,
    bus: Bus,
    ledger: Ledger,
    own_postgres: OwnPostgres,
    receiver: WebhookReceiver,
    away: Turn,
    back: Turn,
) -> None:
    release = threading.Event()
    receiver.script = lambda number, key: Answer(after=release)
    sent = [delivery(n, recipient=receiver.url) for n in range(8)]
    ledger.add(*sent)
    deliverer = start("webhook", concurrency=8, send_timeout_seconds=60)
    until(lambda: len(receiver.requests) == 4, "four under way")
    away(own_postgres)
    release.set()
    bus.tell(sent)
    until(lambda: deliverer.logged("outcomes_not_recorded_yet"), "recording waits")
    until(lambda: "Postgres" in deliverer.page("/healthz/ready")[1], "says that Postgres is away")
    assert deliverer.page("/healthz/live")[0] == 200
    back(own_postgres)
    until(lambda: set(ledger.states().values()) == {State.SENT}, "all sent")
    assert receiver.came() == Counter(each.delivery_id for each in sent)


def test_a_deliverer_started_before_its_ledger_waits_for_it(
    start: Start, ledger: Ledger, own_postgres: OwnPostgres, receiver: WebhookReceiver
) -> None:
    one = delivery(1, recipient=receiver.url)
    ledger.add(one)
    own_postgres.stop()
    deliverer = start("webhook", ready=False)
    until(lambda: deliverer.logged("not_there_yet"), "waits for the ledger")
    own_postgres.start()
    until(lambda: ledger.states() == {one.delivery_id: State.SENT}, "sent")
    assert receiver.came() == Counter([one.delivery_id])


def answered_but_not_recorded(
    start: Start, ledger: Ledger, own_postgres: OwnPostgres, receiver: WebhookReceiver
) -> DelivererProcess:
    """Bring one delivery to where the provider has it and the ledger does not know."""
    release = threading.Event()
    receiver.script = lambda number, key: Answer(after=release)
    ledger.add(delivery(1, recipient=receiver.url))
    deliverer = start("webhook", drain_timeout_seconds=3)
    until(lambda: receiver.requests, "the request is read")
    own_postgres.stop()
    release.set()
    until(lambda: deliverer.logged("outcomes_not_recorded_yet"), "recording waits")
    return deliverer


def test_killed_with_an_answer_it_could_not_record_it_is_held(
    start: Start, ledger: Ledger, own_postgres: OwnPostgres, receiver: WebhookReceiver
) -> None:
    first = answered_but_not_recorded(start, ledger, own_postgres, receiver)
    first.end(signal.SIGKILL)
    own_postgres.start()
    ledger.end_leases()
    start("webhook")
    until(lambda: set(ledger.states().values()) == {State.HELD}, "held")
    assert receiver.came().total() == 1


def test_told_to_stop_while_the_ledger_is_away_it_ends_in_time(
    start: Start, ledger: Ledger, own_postgres: OwnPostgres, receiver: WebhookReceiver
) -> None:
    first = answered_but_not_recorded(start, ledger, own_postgres, receiver)
    assert first.end() == 0
    own_postgres.start()
    ledger.end_leases()
    start("webhook")
    until(lambda: set(ledger.states().values()) == {State.HELD}, "held")
    assert receiver.came().total() == 1
