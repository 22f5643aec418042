"""Messages after intake: written, and judged by what stands at that moment."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from services.backbone.ledger.alerts.intake import NewDelivery
from services.contracts.records import Alert
from services.lookout.decisions.fanout import new_delivery
from services.lookout.decisions.judgement import Judged, hold_together, judge_one
from services.lookout.outbox.publishing import Publisher, Writer, event_of, goes_now
from services.lookout.routing import Instruction, Routes
from services.lookout.standing import Standing
from services.lookout.templates.digest import Digest
from services.lookout.templates.words import Words, opened


@dataclass(frozen=True)
class Later:
    """Makes messages of escalations and fallbacks, under the routes and what stands now."""

    words: Words
    routes: Routes
    standing: Standing

    def tell(
        self,
        alert: Alert,
        told: Instruction,
        number: int,
        opening: str,
        at: datetime,
        digest: Digest | None = None,
    ) -> NewDelivery:
        """Return a message; what is told so is ungrouped, so no group holds it back."""
        now_ms = int(at.timestamp() * 1000)
        if digest is None:
            message = self.words.of(alert, self.routes, now_ms)(told, number)
        else:
            message = digest.message
        held = hold_together(
            judge_one(told, each, self.standing, at)
            for each in (digest.alerts if digest else (alert,))
        )
        read = opened(message, opening, told.target.channel)
        return new_delivery(alert, Judged(told, held), read, now_ms, number)


@dataclass(frozen=True)
class Announcing:
    """Tells of messages that are recorded and publishes them; what is not taken the relay does."""

    publisher: Publisher
    writer: Writer
    now_ms: Callable[[], int]

    def announce(self, new: Sequence[NewDelivery]) -> None:
        """Tell and publish, and wait for nobody."""
        if not new:
            return
        now_ms = self.now_ms()
        self.writer.send([event_of(each, now_ms) for each in new])
        self.publisher.hand_over([each.entry() for each in new if goes_now(each)])
