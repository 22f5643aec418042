"""A silence by times that the routes do not have holds nothing, and people are told of it."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from structlog.testing import capture_logs

from services.backbone.clock import ManualClock
from services.backbone.ledger.database import Pool
from services.backbone.ledger.operators.silences import NewSilence, Silences
from services.lookout.duties.roster import refreshing
from services.lookout.intake.circumstances import Circumstances
from services.lookout.routing import Routes
from services.lookout.week_times import WeekTimes

pytestmark = pytest.mark.postgres

NIGHTS = Routes((), (), times={"nights": WeekTimes("nights", ())})
RENAMED = Routes((), (), times={"late": WeekTimes("late", ())})


@dataclass
class Held:
    """The routes in use, which a test changes."""

    routes: Routes = field(default=NIGHTS)

    def current(self) -> Routes:
        return self.routes


def test_a_silence_whose_times_are_gone_is_noted_and_logged_once(pool: Pool) -> None:
    now, held = datetime.now(UTC), Held()
    made = NewSilence("s1", {"during": "nights"}, now, now + timedelta(days=1), "ann", "asleep")
    Silences(pool).create(made)
    duty = refreshing(pool, Circumstances(ManualClock()), held.current)
    duty.do()
    assert duty.unreadable.note() is None
    with capture_logs() as logs:
        for routes in (RENAMED, RENAMED, NIGHTS, RENAMED):
            held.routes = routes
            duty.do()
            noted = duty.unreadable.note()
            assert (noted is None) == (routes is NIGHTS)
    assert [each["event"] for each in logs] == ["silence_unreadable"] * 2
    assert noted == "silence s1 of ann holds nothing: match: the routes name no times 'nights'"
