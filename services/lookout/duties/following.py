"""The duties that tell somebody else: steps of escalations that are due, and what failed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from services.backbone.ledger.alerts.escalations import Escalations
from services.backbone.ledger.alerts.fallbacks import Fallbacks
from services.backbone.log import logger
from services.lookout import metrics
from services.lookout.decisions.escalation import escalate
from services.lookout.decisions.fallback import fall_back
from services.lookout.duties.later import Announcing, Later
from services.lookout.intake.circumstances import Circumstances
from services.lookout.routing import Routes
from services.lookout.templates.words import Words

ALERTS_LIMIT: Final = 20
"""Alerts, or failures, of one transaction at most; each may lead to many large messages."""

log = logger(__name__)


@dataclass(frozen=True)
class Following:
    """What both duties work with."""

    circumstances: Circumstances
    routes: Callable[[], Routes]
    words: Words
    announcing: Announcing

    def later(self) -> Later:
        """Return what makes messages under what stands now."""
        routes = self.routes()
        return Later(self.words, routes, self.circumstances.standing(routes))


@dataclass(frozen=True)
class Escalating:
    """Tells the next ones where nobody has acknowledged in time."""

    escalations: Escalations
    following: Following
    name: str = "escalating"

    def do(self) -> int:
        """Take some steps that are due; return how many.

        Raises:
            Transient: Postgres is away.
        """
        later = self.following.later()
        taken = self.escalations.take(
            ALERTS_LIMIT, lambda due, earlier: escalate(due, earlier, later.routes, later.tell)
        )
        metrics.ESCALATED.inc(taken.steps)
        for each in taken.deliveries:
            made = each.delivery
            log.info("escalated", alert_id=made.alert.alert_id, delivery_id=made.delivery_id)
        self.following.announcing.announce(taken.deliveries)
        return taken.steps


@dataclass(frozen=True)
class FallingBack:
    """Tells the next recipient where a message failed for good."""

    fallbacks: Fallbacks
    following: Following
    name: str = "falling_back"

    def do(self) -> int:
        """Take some failures that nothing has followed yet; return how many.

        Raises:
            Transient: Postgres is away.
        """
        later = self.following.later()
        followed = self.fallbacks.take(
            ALERTS_LIMIT, lambda lost, told: fall_back(lost, told, later.routes, later.tell)
        )
        metrics.FALLBACKS.inc(len(followed.deliveries))
        metrics.FALLBACKS_EXHAUSTED.inc(followed.exhausted)
        for each in followed.deliveries:
            made = each.delivery
            log.warning("fell_back", alert_id=made.alert.alert_id, delivery_id=made.delivery_id)
        self.following.announcing.announce(followed.deliveries)
        return followed.failures
