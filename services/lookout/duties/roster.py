"""All duties of the keeper, in the sequence of a round."""

from collections.abc import Callable
from datetime import timedelta

from services.backbone.ledger.alerts.escalations import Escalations
from services.backbone.ledger.alerts.fallbacks import Fallbacks
from services.backbone.ledger.alerts.inhibitors import Inhibitors
from services.backbone.ledger.alerts.suppressions import Suppressions
from services.backbone.ledger.database import Pool
from services.backbone.ledger.operators.silences import Silences
from services.lookout.duties.following import Escalating, FallingBack, Following
from services.lookout.duties.judging import Bench, Gathering, Releasing, Sweeping
from services.lookout.duties.refreshing import Refreshing
from services.lookout.duties.telling import Teller
from services.lookout.intake.circumstances import Circumstances
from services.lookout.keeper import Duty
from services.lookout.routing import Routes
from services.lookout.settings import LookoutSettings


def refreshing(
    pool: Pool, circumstances: Circumstances, routes: Callable[[], Routes]
) -> Refreshing:
    """Return the duty that has to be done once before the first alert is judged."""
    return Refreshing(circumstances, Silences(pool), Inhibitors(pool), routes)


def judging(
    settings: LookoutSettings,
    pool: Pool,
    circumstances: Circumstances,
    routes: Callable[[], Routes],
    teller: Teller,
) -> list[Duty]:
    """Return the duties that judge anew; sweeping is last, so that it sees what was released."""

    def rules() -> int:
        return circumstances.standing(routes()).rules

    bench = Bench(
        Suppressions(pool, settings.lookout_keeper_rows, rules),
        circumstances,
        routes,
        teller,
        timedelta(hours=settings.age_limit_hours),
    )
    return [Releasing(bench), Gathering(bench), Sweeping(bench, settings.channels)]


def following(settings: LookoutSettings, pool: Pool, shared: Following) -> list[Duty]:
    """Return the duties that tell somebody else."""
    # Of two that wait, made half of the limit apart, one is young enough at whatever end.
    young = timedelta(hours=settings.age_limit_hours) / 2
    return [
        FallingBack(Fallbacks(pool, young), shared),
        Escalating(Escalations(pool, young), shared),
    ]
