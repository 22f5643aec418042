"""What becomes of rows that wait when their time comes, and of those that are next to be sent."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from services.backbone.ledger.alerts.suppressions import Member, Ruling, Suppression, Waiting
from services.backbone.ledger.deliveries.ages import TOO_OLD
from services.contracts.records import Alert
from services.contracts.states import State
from services.lookout.decisions.judgement import hold_together, judge_one
from services.lookout.decisions.plans import read_plan
from services.lookout.routing import Routes, Target
from services.lookout.standing import Standing, found_at
from services.lookout.templates.digest import digest_message, weight

RELEASE, SWEEP, DIGEST = "release", "sweep", "digest"
"""Stages, as decisions name them."""


@dataclass(frozen=True, slots=True)
class Rejudgement:
    """Judges rows of the ledger under today's routes and what stands now."""

    routes: Routes
    standing: Standing
    age_limit: timedelta

    def released(self, now: datetime, rows: Sequence[Waiting]) -> list[Ruling]:
        """Rule on rows that wait: released, waiting on, closed or held; unchanged ones are left."""
        rulings = (self._released(row, now) for row in rows)
        return [each for each in rulings if each is not None]

    def swept(self, now: datetime, rows: Sequence[Waiting]) -> list[Ruling]:
        """Rule on rows that are next to be sent: only what holds them back."""
        held = ((row, self._held(row, now, may_group=False)) for row in rows)
        return [_waits(row, SWEEP, each) for row, each in held if each is not None]

    def gathered(self, now: datetime, members: Sequence[Waiting]) -> list[Ruling]:
        """Rule on a group whose window is over: those that may go become one message."""
        rulings: list[Ruling] = []
        going: list[Waiting] = []
        for row in members:
            if ended := self._ended(row, now) or self._found_long_ago(row, now):
                rulings.append(ended)
            elif held := self._held(row, now, may_group=False):
                rulings.append(_waits(row, DIGEST, held))
            else:
                going.append(row)
        return rulings + _told_together(going)

    def _released(self, row: Waiting, now: datetime) -> Ruling | None:
        if ended := self._ended(row, now):
            return ended
        # A row that was tried keeps its own text: who got it must get the same again.
        held = self._held(row, now, may_group=row.attempt == 0 and not row.members)
        if held is None:
            return Ruling(row, State.PENDING, RELEASE, f"released: {row.suppressed_by} is over")
        if (held.by, held.until) == (row.suppressed_by, row.next_attempt_at):
            return None
        return _waits(row, RELEASE, held)

    def _ended(self, row: Waiting, now: datetime) -> Ruling | None:
        """Rule on a row that is not to be sent by itself any more."""
        if all(each.acknowledged for each in row.members or (row,)):
            why = "acknowledged before it was sent"
            return Ruling(row, State.CLOSED, RELEASE, why)
        if now - row.created_at >= self.age_limit:
            why = f"waited for {row.suppressed_by} until it was too old to be sent without a word"
            return Ruling(row, State.HELD, RELEASE, why)
        return None

    def _found_long_ago(self, row: Waiting, now: datetime) -> Ruling | None:
        """Hold a member that was recorded long after its finding, as in a ledger restored from a
        backup: a digest is as old as its carrier, so it would be told with new ones, or keep them
        back. What was asked for later than that waits for no group.
        """
        if now - found_at(Alert.decode(row.alert.encode())) < self.age_limit:
            return None
        return Ruling(row, State.HELD, DIGEST, TOO_OLD)

    def _held(self, row: Waiting, now: datetime, *, may_group: bool) -> Suppression | None:
        """A digest is one message: what holds back only some of its alerts does not hold it."""
        return hold_together(
            self._held_one(row, each, now, may_group) for each in row.members or (row,)
        )

    def _held_one(
        self, row: Waiting, told: Waiting | Member, now: datetime, may_group: bool
    ) -> Suppression | None:
        instruction = read_plan(told.plan, Target(row.channel, row.recipient), self.routes)
        judged = instruction if may_group else instruction.ungrouped()
        return judge_one(judged, Alert.decode(told.alert.encode()), self.standing, now)


def _waits(row: Waiting, stage: str, held: Suppression) -> Ruling:
    return Ruling(row, State.SUPPRESSED, stage, held.why, held)


def _told_together(rows: Sequence[Waiting]) -> list[Ruling]:
    """The first of the worst carries all, so that a channel that shows the severity of an alert
    shows that one; it was never claimed, so nobody has got its own text.
    """
    if not rows:
        return []
    if len(rows) == 1:
        return [Ruling(rows[0], State.PENDING, DIGEST, "alone in its group")]
    alerts = [Alert.decode(row.alert.encode()) for row in rows]
    place = max(range(len(rows)), key=lambda each: weight(alerts[each]))
    carrier, others = rows[place], [*rows[:place], *rows[place + 1 :]]
    subjects = [row.subject for row in rows]
    message = digest_message(list(zip(subjects, alerts, strict=True)), carrier.channel)
    why = f"tells {len(rows)} alerts as one message"
    told = f"told by delivery {carrier.delivery_id}, one message for {len(rows)} alerts"
    own = carrier.delivery_id
    return [
        Ruling(carrier, State.PENDING, DIGEST, why, digest_id=own, message=message),
        *(Ruling(row, State.CLOSED, DIGEST, told, digest_id=own) for row in others),
    ]
