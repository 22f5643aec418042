"""What follows a ruling: released rows are published at once, and every move is told."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.backbone.clock import Clock
from services.backbone.kafka.producer import Outgoing
from services.backbone.ledger.alerts.outbox import Listed, Outbox
from services.backbone.ledger.alerts.suppressions import Moved
from services.backbone.log import logger
from services.contracts import topics
from services.contracts.records import DeliveryEvent
from services.contracts.states import State
from services.lookout.outbox.publishing import Publisher, Writer

log = logger(__name__)


@dataclass(frozen=True)
class Teller:
    """Publishes and tells, and waits for nobody; what is not taken is left to the relay."""

    publisher: Publisher
    writer: Writer
    outbox: Outbox
    clock: Clock

    def tell(self, moved: Sequence[Moved]) -> int:
        """Tell of moves; return how many.

        Raises:
            Transient: Postgres is away; what is not published the relay does.
        """
        if not moved:
            return 0
        now_ms = self.clock.now_ms()
        self.writer.send([_event(each, now_ms) for each in moved])
        for each in moved:
            log.info("judged_anew", delivery_id=each.delivery_id, after=each.after, why=each.reason)
        for entries in self.outbox.read([_listed(each) for each in moved if _goes_now(each)]):
            self.publisher.hand_over(entries)
        return len(moved)


def _goes_now(moved: Moved) -> bool:
    return moved.after is State.PENDING


def _listed(moved: Moved) -> Listed:
    return Listed(moved.delivery_id, moved.size_bytes)


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
