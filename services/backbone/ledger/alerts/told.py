"""What was made of alerts so far, counted for who decides what follows a failure."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson

from services.backbone.ledger.alerts.intake import NewDelivery
from services.backbone.ledger.alerts.later import To
from services.contracts.states import State


@dataclass(frozen=True, slots=True)
class Known:
    """A message to one recipient about one alert; of one in a digest, how the digest stands."""

    delivery_id: str
    alert_id: str
    channel: str
    recipient: str
    made_at: datetime
    state: State
    attempt: int = 0
    grouped: bool = False
    """Whether it waits for its group, or has."""
    waits: dict[str, Any] | None = None
    """Its plan, if it is young and untried, and a silence, an inhibition or quiet hours hold it
    back."""

    @property
    def to(self) -> To:
        """Whom it tells of which alert."""
        return (self.alert_id, self.channel, self.recipient)


@dataclass(slots=True)
class Told:
    """What was made of the alerts so far, in messages of their own or digests, and when last."""

    ids: set[str] = field(default_factory=set)
    """Deliveries of the alerts."""
    reached: dict[To, datetime] = field(default_factory=dict)
    """What has reached its recipient, or may soon."""
    by: dict[To, str] = field(default_factory=dict)
    """The last delivery that did."""
    failed: dict[To, datetime] = field(default_factory=dict)
    waiting: dict[To, list[dict[str, Any]]] = field(default_factory=dict)
    """The plans of those that wait and may stand for others."""

    def count(self, known: Known) -> None:
        """Count a message by its state; what no rule sends by itself soon has reached nobody.

        One that waits for its group only may soon reach: it goes out when the group's wait ends.
        """
        to, made_at = known.to, known.made_at
        self.ids.add(known.delivery_id)
        if known.waits is not None:
            self.waiting.setdefault(to, []).append(known.waits)
        match known.state:
            case State.FAILED:
                self.failed[to] = max(made_at, self.failed.get(to, made_at))
            case State.HELD:
                pass
            case State.SUPPRESSED if not known.grouped:
                pass
            case State.CLOSED if known.attempt == 0:
                pass
            case _:
                before = self.reached.get(to, made_at), self.by.get(to, "")
                self.reached[to], self.by[to] = max(before, (made_at, known.delivery_id))

    def add(self, made: NewDelivery, alert_ids: Iterable[str], at: datetime) -> None:
        """Count a message that is made now and tells some alerts."""
        told = made.delivery
        held = made.suppression is not None
        state = State.SUPPRESSED if held else State.PENDING
        waits = orjson.loads(made.plan) if held else None
        for each in alert_ids:
            to = (each, told.channel, told.recipient)
            self.count(Known(told.delivery_id, *to, at, state, waits=waits))

    def has_reached(self, to: To, since: datetime | None) -> bool:
        """Tell whether a message made since then, or ever, has reached a recipient or may soon."""
        return to in self.reached and (since is None or self.reached[to] >= since)

    def has_failed(self, to: To, since: datetime | None) -> bool:
        """Tell whether a message made since then, or ever, has failed for good."""
        return to in self.failed and (since is None or self.failed[to] >= since)
