"""The duty that keeps what stands up to date; others come after it, so that they see it fresh."""

from collections.abc import Callable
from dataclasses import dataclass, field

from services.backbone.ledger.alerts.inhibitors import InhibitorRow, Inhibitors
from services.backbone.ledger.operators.silences import Silences
from services.lookout.decisions.silencing import Unreadable, read_silences
from services.lookout.intake.circumstances import Circumstances
from services.lookout.routing import Routes


@dataclass(frozen=True)
class Refreshing:
    """Reads silences and inhibitors anew."""

    circumstances: Circumstances
    silences: Silences
    inhibitors: Inhibitors
    routes: Callable[[], Routes]
    unreadable: Unreadable = field(default_factory=Unreadable)
    name: str = "refreshing"

    def do(self) -> int:
        """Read them once.

        Raises:
            Transient: Postgres is away; what stood before still does.
        """
        routes, doubted = self.routes(), self.circumstances.doubted
        spoken = read_silences(self.silences.standing(), routes.times, self.unreadable)
        self.circumstances.refresh(spoken, self._fresh(routes), doubted)
        return 0

    def _fresh(self, routes: Routes) -> list[InhibitorRow]:
        if not routes.inhibitions:
            return []
        return self.inhibitors.fresh(max(each.for_seconds for each in routes.inhibitions))
