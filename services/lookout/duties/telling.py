"""What follows a ruling: released rows are published at once, and every move is told."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.backbone.clock import Clock
from services.backbone.kafka.producer import Outgoing
from services.backbone.ledger.intake import OutboxEntry
from services.backbone.ledger.suppressions import Moved
from services.backbone.log import logger
from services.contracts import topics
from services.contracts.records import DeliveryEvent
from services.contracts.states import State
from services.lookout.publishing import Publisher, Writer

log = logger(__name__)


@dataclass(frozen=True)
class Teller:
    """Publishes and tells, and waits for nobody; what is not taken is left to the relay."""

    publisher: Publisher
    writer: Writer
    clock: Clock

    def tell(self, moved: Sequence[Moved]) -> int:
        """Tell of moves; return how many."""
        if not moved:
            return 0
        now_ms = self.clock.now_ms()
        self.writer.send([_event(each, now_ms) for each in moved])
        for each in moved:
            log.info("judged_anew", delivery_id=each.delivery_id, after=each.after, why=each.reason)
        self.publisher.hand_over([_entry(each) for each in moved if each.after is State.PENDING])
        return len(moved)


def _entry(moved: Moved) -> OutboxEntry:
    return OutboxEntry(moved.delivery_id, moved.channel, moved.record.encode())


def _event(moved: Moved, now_ms: int) -> Outgoing:
    event = DeliveryEvent(
        delivery_id=moved.delivery_id,
        alert_id=moved.alert_id,
        channel=moved.channel,
        recipient=moved.recipient,
        before=moved.before,
        after=moved.after,
        attempt=moved.attempt,
        reason=moved.reason,
        at_ms=now_ms,
    )
    return Outgoing(topics.DELIVERY_EVENTS, moved.delivery_id, event.encode())
