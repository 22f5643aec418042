"""Tells each recorded move as a delivery event; best effort, the ledger is the truth."""

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Protocol

from services.backbone.clock import Clock
from services.backbone.errors import Trouble
from services.backbone.kafka.producer import Outgoing, Producer
from services.contracts import topics
from services.contracts.records import DeliveryEvent
from services.contracts.states import State
from services.deliverer import metrics


class Row(Protocol):
    """What claims and swept rows have in common."""

    @property
    def delivery_id(self) -> str:
        """The delivery's id."""

    @property
    def alert_id(self) -> str:
        """The alert's id."""

    @property
    def channel(self) -> str:
        """The channel's name."""

    @property
    def recipient(self) -> str:
        """Who gets it."""

    @property
    def attempt(self) -> int:
        """Number of the last try."""


class Announcer:
    """Writes delivery events without waiting for them."""

    def __init__(self, producer: Producer, clock: Clock) -> None:
        self._producer = producer
        self._clock = clock

    def moved(
        self,
        row: Row,
        before: State,
        path: Sequence[State],
        reason: str = "",
        provider_id: str = "",
    ) -> None:
        """Tell the moves of one row along a path that begins after `before`."""
        at_ms = self._clock.now_ms()
        records = []
        for after in path:
            event = DeliveryEvent(
                delivery_id=row.delivery_id,
                alert_id=row.alert_id,
                channel=row.channel,
                recipient=row.recipient,
                before=before,
                after=after,
                attempt=row.attempt,
                reason=reason,
                provider_id=provider_id,
                at_ms=at_ms,
            )
            records.append(Outgoing(topics.DELIVERY_EVENTS, row.delivery_id, event.encode()))
            if after is State.FAILED:
                metrics.FAILED.labels(row.channel).inc()
            before = after
        self._producer.send(records).add_done_callback(_count_lost)


def _count_lost(sent: "Future[list[Trouble | None]]") -> None:
    metrics.EVENTS_LOST.inc(sum(outcome is not None for outcome in sent.result()))
