"""From when ages count: an old alert is told to nobody, a late step to whom it names."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import permutations
from typing import Any, Final

import pytest

from services.backbone.ledger.alerts.escalations import Escalations
from services.backbone.ledger.alerts.fallbacks import Fallbacks
from services.backbone.ledger.alerts.intake import Intake, NewAlert
from services.backbone.ledger.alerts.suppressions import Suppressions
from services.backbone.ledger.deliveries.claims import Claim, Claims, Due, Settlement
from services.backbone.ledger.deliveries.sweeps import Sweeps
from services.contracts.records import Alert, Severity
from services.contracts.states import State
from services.lookout.decisions.escalation import begin, escalate
from services.lookout.decisions.fallback import fall_back
from services.lookout.decisions.fanout import fan_out
from services.lookout.decisions.rejudgement import Rejudgement
from services.lookout.duties.later import Later
from services.lookout.matching import Match
from services.lookout.routing import Escalation, Grouping, Instruction, Route, Routes, Step, Target
from services.lookout.standing import Standing
from services.lookout.templates.words import NO_LINKS
from tests.integration.lookout.keeping import START, Desk
from tests.unit.lookout.samples import sample

pytestmark = pytest.mark.postgres

ROUTES: Final = Routes((), ())
LATER: Final = Later(NO_LINKS, ROUTES, Standing())
PHONE: Final = Target("sms", "night")
CALL: Final = (Instruction(Target("sms", "desk"), "r", fallback=(PHONE,), fallback_on_held=True),)
TOGETHER: Final = Instruction(Target("sms", "desk"), "r", grouping=Grouping((), 3600.0, 100))
GROUPED: Final = Routes((Route("r", Match(), (TOGETHER,)),), ())
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
AGE_LIMIT: Final = 7 * DAY


@dataclass
class Night:
    """A keeper and a deliverer of one channel, on a ledger whose clock the test moves."""

    desk: Desk
    now: datetime = START

    def __post_init__(self) -> None:
        """Begin with an empty ledger."""
        self.desk.wipe()
        self.wait(timedelta(0))

    def wait(self, span: timedelta) -> None:
        self.now += span
        self.desk.set_clock(self.now)

    def record(self, step: Step, found_before: timedelta = timedelta(0)) -> None:
        """Record an alert that was found some time ago, with one step."""
        alert: Alert = sample(detected_at_ms=self._ms(found_before))
        steps = begin([Escalation("desk", (step,))])
        Intake(self.desk.pool).accept([NewAlert(alert, alert.encode(), "r", (), steps=steps)])

    def group(self, number: int, severity: Severity, found_before: timedelta) -> None:
        """Record an alert that was found some time ago and waits for its group."""
        found_at_ms = self._ms(found_before)
        alert = sample(number, severity=severity, detected_at_ms=found_at_ms)
        new = fan_out(alert, GROUPED, Standing(), self._ms(timedelta(0)))
        assert isinstance(new, NewAlert)
        Intake(self.desk.pool).accept([new])

    def gather(self) -> None:
        """End the window of the group."""
        judge = Rejudgement(GROUPED, Standing(), AGE_LIMIT)
        Suppressions(self.desk.pool).judge_groups(judge.gathered)

    def _ms(self, before: timedelta) -> int:
        return int((self.now - before).timestamp() * 1000)

    def keep(self) -> int:
        """Do what is due; return how many messages that made."""
        pool, tell = self.desk.pool, LATER.tell
        taken = Escalations(pool).take(10, lambda due, known: escalate(due, known, ROUTES, tell))
        followed = Fallbacks(pool).take(10, lambda lost, told: fall_back(lost, told, ROUTES, tell))
        return len(taken.deliveries) + len(followed.deliveries)

    def deliver(self, outcome: State = State.SENT) -> list[str]:
        """Claim, settle and sweep; return who was sent something."""
        return self.desk.runner.run(self._deliver(outcome))

    async def _deliver(self, outcome: State) -> list[str]:
        age = AGE_LIMIT.total_seconds()
        terms: dict[str, Any] = {"channel": "sms", "owner": "o", "age_limit_seconds": age}
        claims = Claims(self.desk.async_pool, lease_seconds=30, **terms)
        claimed = await claims.due(Due(10))
        if claimed:
            await claims.settle(settlements(claimed, outcome))
        await Sweeps(self.desk.async_pool, **terms).too_old()
        return [each.recipient for each in claimed]

    def states(self) -> list[str]:
        with self.desk.pool.connection() as connection:
            rows = connection.execute("SELECT state FROM deliveries ORDER BY created_at").fetchall()
        return [row[0] for row in rows]


def settlements(claimed: Sequence[Claim], outcome: State) -> list[Settlement]:
    return [
        Settlement(each.delivery_id, each.fence, outcome, outcome, None, 60.0) for each in claimed
    ]


@pytest.fixture
def night(desk: Desk) -> Night:
    return Night(desk)


def test_a_step_later_than_the_limit_of_age_is_told(night: Night) -> None:
    night.record(Step((8 * DAY).total_seconds(), CALL))
    night.wait(8 * DAY)
    assert night.keep() == 1
    assert night.deliver() == ["desk"]


def test_who_is_told_again_and_again_is_so_after_a_week_too(night: Night) -> None:
    night.record(Step(60, CALL, repeat_every_seconds=(12 * HOUR).total_seconds(), repeat_times=20))
    night.wait(HOUR)
    for _ in range(20):
        assert (night.keep(), night.deliver()) == (1, ["desk"])
        night.wait(12 * HOUR)


def test_what_follows_a_late_failure_is_told(night: Night) -> None:
    night.record(Step((8 * DAY).total_seconds(), CALL))
    night.wait(8 * DAY)
    night.keep()
    assert night.deliver(State.FAILED) == ["desk"]
    assert night.keep() == 1
    assert night.deliver() == ["night"]


def test_a_late_message_grows_old_as_any_other(night: Night) -> None:
    night.record(Step((8 * DAY).total_seconds(), CALL))
    night.wait(8 * DAY)
    night.keep()
    assert night.deliver(State.RETRY_WAIT) == ["desk"]
    night.wait(AGE_LIMIT)
    assert (night.deliver(), night.states()) == ([], ["HELD"])


def test_steps_of_an_alert_that_came_too_late_are_held(night: Night) -> None:
    night.record(Step(60, CALL, repeat_every_seconds=60, repeat_times=1), found_before=8 * DAY)
    for _ in range(2):
        night.wait(HOUR)
        assert (night.keep(), night.deliver()) == (1, [])
    assert night.states() == ["HELD", "HELD"]


def test_a_step_that_was_due_long_ago_is_held(night: Night) -> None:
    night.record(Step(60, CALL))
    night.wait(8 * DAY)
    assert (night.keep(), night.deliver()) == (1, [])
    assert night.states() == ["HELD"]


def test_what_follows_a_try_of_long_ago_is_held(night: Night) -> None:
    night.record(Step(60, CALL))
    night.wait(HOUR)
    night.keep()
    assert night.deliver(State.RETRY_WAIT) == ["desk"]
    night.wait(8 * DAY)
    assert (night.deliver(), night.keep()) == ([], 1)
    assert (night.deliver(), night.states()) == ([], ["HELD", "HELD"])


@pytest.mark.parametrize("severities", [*permutations((Severity.INFO, Severity.CRITICAL))])
def test_an_alert_that_came_too_late_is_held_apart_from_its_group(
    night: Night, severities: tuple[Severity, Severity]
) -> None:
    """It was told again with the new one, or that one was closed as told by it and nobody was."""
    for number, found_before in enumerate((8 * DAY, timedelta(0))):
        night.group(number, severities[number], found_before)
        night.wait(HOUR / 2)
    night.wait(HOUR)
    night.gather()
    assert night.deliver() == ["desk"]
    assert night.states() == ["HELD", "SENT"]
