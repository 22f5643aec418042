"""A mirror: no delivery waits for the other deliverer, and what both are told of is sent once."""

from collections import Counter
from functools import partial
from itertools import count

import pytest

from services.contracts import topics
from services.contracts.records import Delivery, Rejected
from services.contracts.states import State
from tests.integration.deliverer.conftest import Bus, Start
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.programs import DelivererProcess
from tests.integration.deliverer.receivers import WebhookReceiver
from tests.integration.deliverer.waiting import until
from tests.integration.standing_still import standing_still
from tests.unit.deliverer.builders import delivery

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]

NEVER_SECONDS = 3600
"""Between two looks into the ledger: what is sent was told of by the topic."""


class Desk:
    """Deliveries that are recorded and told of, as the lookout does it."""

    def __init__(self, bus: Bus, ledger: Ledger, receiver: WebhookReceiver) -> None:
        self.bus, self.ledger, self.receiver = bus, ledger, receiver
        self._numbers = count()

    def new(self, many: int) -> list[Delivery]:
        """Return deliveries that nobody knows of."""
        return [delivery(next(self._numbers), recipient=self.receiver.url) for _ in range(many)]

    def told(self, many: int) -> list[Delivery]:
        """Record deliveries and tell of them."""
        made = self.new(many)
        self.ledger.add(*made)
        self.bus.tell(made)
        return made

    def sent(self) -> set[str]:
        """Return the ids that the ledger has as sent."""
        return {each for each, state in self.ledger.states().items() if state == State.SENT}

    def all_sent(self) -> bool:
        """Whether all that was told of is sent."""
        return self.sent() == self.ledger.states().keys()


@pytest.fixture
def desk(bus: Bus, ledger: Ledger, receiver: WebhookReceiver) -> Desk:
    return Desk(bus, ledger, receiver)


def start_both(start: Start, desk: Desk, **settings: object) -> list[DelivererProcess]:
    """Return a deliverer and its mirror once each reads the topic."""
    both = [start("webhook", ordinal=ordinal, **settings) for ordinal in (0, 1)]
    for other in both:
        with standing_still(other):
            until(partial(_tells_of_more, desk, desk.sent()), "one of the two reads")
        until(desk.all_sent, "all sent by both")
    return both


def _tells_of_more(desk: Desk, before: set[str]) -> bool:
    desk.told(1)
    return desk.sent() > before


@pytest.mark.parametrize("still", [0, 1])
def test_no_delivery_waits_for_one_that_stands_still(start: Start, desk: Desk, still: int) -> None:
    both = start_both(start, desk, sweep_seconds=NEVER_SECONDS)
    with standing_still(both[still]):
        desk.told(50)
        until(desk.all_sent, "all sent by the other")
    assert desk.receiver.came() == Counter(desk.ledger.states().keys())


def test_nothing_is_lost_while_each_in_turn_is_killed(start: Start, desk: Desk) -> None:
    first, mirror = start_both(start, desk, webhook_dedupes="true")
    desk.told(100)
    first.kill()
    desk.told(100)
    start("webhook", ordinal=0, webhook_dedupes="true")
    mirror.kill()
    desk.told(100)
    until(desk.all_sent, "all sent")
    assert desk.receiver.taken().keys() == desk.ledger.states().keys()


def test_what_no_row_stands_for_is_kept_aside_once(start: Start, desk: Desk) -> None:
    first, mirror = start_both(start, desk, sweep_seconds=NEVER_SECONDS)
    (unknown,) = desk.new(1)
    desk.bus.tell([unknown])
    for other in (first, mirror):
        with standing_still(other):
            desk.told(50)
            until(desk.all_sent, "what comes later is sent")
    assert [each.end() for each in (first, mirror)] == [0, 0]
    last = desk.new(1)[0]
    start("webhook")
    desk.bus.tell([last])
    rejected = desk.bus.read(
        topics.rejected("deliveries.webhook"),
        lambda found: any(each.key == last.delivery_id for each in found),
    )
    kept = [each for each in rejected if each.key == unknown.delivery_id]
    assert [Rejected.decode(each.value).original for each in kept] == [unknown.encode()]
