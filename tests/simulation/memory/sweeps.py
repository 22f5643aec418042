"""What time alone changes, in memory; see ledger/deliveries/sweeps.py."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from services.backbone.ledger.deliveries.sweeps import SWEEP_LIMIT, Fenced, Ruling, Standing, Swept
from services.contracts.states import State
from tests.simulation.memory.tables import SENDABLE, Row, Tables

GAVE_NO_ANSWER: Final = "the claim's owner gave no answer within its lease"
ANSWER_LOST: Final = "claimed, but the claim's answer was lost: not sent"
TOO_OLD: Final = "too old to be sent without a person's word"


@dataclass(frozen=True)
class MemorySweeps:
    """The statements of Sweeps, each at one moment."""

    tables: Tables
    channel: str
    owner: str
    age_limit_seconds: float

    def lease_over(self) -> list[Swept]:
        """Put claims whose lease is over IN_DOUBT."""
        return self._moved(self.is_lease_over, State.IN_DOUBT, GAVE_NO_ANSWER)

    def is_lease_over(self, row: Row) -> bool:
        """Tell whether a claim has lasted too long."""
        return _lease(row) < self.tables.now()

    def lost(self, known: Sequence[Fenced]) -> list[Fenced]:
        """Return own claims other than `known`."""
        in_hand = set(known)
        mine = [
            (row.delivery_id, row.fence)
            for row in self.tables.rows.values()
            if row.state is State.CLAIMED and row.channel == self.channel
            if row.owner == self.owner
        ]
        return [each for each in mine if each not in in_hand][:SWEEP_LIMIT]

    def give_back(self, lost: Sequence[Fenced]) -> list[Swept]:
        """Let others claim what was lost."""
        named = set(lost)
        return self._moved(
            lambda row: (row.delivery_id, row.fence) in named, State.RETRY_WAIT, ANSWER_LOST
        )

    def too_old(self) -> list[Swept]:
        """Hold what has waited too long."""
        return self._moved(self.is_too_old, State.HELD, TOO_OLD, SENDABLE)

    def is_too_old(self, row: Row) -> bool:
        """Tell whether what may be sent waits too long, without a person's young word."""
        limit = self.age_limit_seconds
        is_young = row.aged_since > self.tables.now() - limit
        return not is_young and not self.tables.has_word(row.delivery_id, limit)

    def doubtful(self, deadline_seconds: float, asked: int = -1) -> list[Swept]:
        """Return rows whose time for evidence is over."""
        before = self.tables.now() - deadline_seconds
        long_before = self.tables.now() - 2 * deadline_seconds
        found = [
            row
            for row in self.tables.rows.values()
            if row.channel == self.channel
            and row.state is State.IN_DOUBT
            and row.updated_at <= before
            and (row.updated_at <= long_before or asked < 0 or self._was_answered(row, asked))
        ]
        found.sort(key=lambda row: row.updated_at)
        return [_swept(row, row.state) for row in found[:SWEEP_LIMIT]]

    def _was_answered(self, row: Row, asked: int) -> bool:
        return any(
            (delivery_id, attempt) == (row.delivery_id, row.attempt)
            and number >= asked
            and each.answered_at is not None
            for (delivery_id, attempt, number), each in self.tables.look_ups.items()
        )

    def rule(self, rulings: Sequence[Ruling]) -> set[str]:
        """Move rows out of doubt."""
        moved = set()
        for each in rulings:
            row = self.tables.rows.get(each.delivery_id)
            if row is None or row.fence != each.fence or row.state is not State.IN_DOUBT:
                continue
            self.tables.move(row, each.after)
            row.marked_repeat = row.marked_repeat or each.marked_repeat
            row.reason, row.next_attempt_at = each.reason, self.tables.now()
            moved.add(each.delivery_id)
        return moved

    def standing(self) -> Standing:
        """Count what is open."""
        now = self.tables.now()
        rows = [row for row in self.tables.rows.values() if row.channel == self.channel]
        waits = [row.next_attempt_at for row in rows if row.state in SENDABLE]
        return Standing(
            in_doubt=sum(row.state is State.IN_DOUBT for row in rows),
            held=sum(row.state is State.HELD for row in rows),
            due=sum(each <= now for each in waits),
            overdue_seconds=max(0.0, now - min(waits, default=now)),
        )

    def _moved(
        self,
        fits: Callable[[Row], bool],
        after: State,
        reason: str,
        states: Sequence[State] = (State.CLAIMED,),
    ) -> list[Swept]:
        return [self._move(row, after, reason) for row in self.found(fits, states)]

    def found(self, fits: Callable[[Row], bool], states: Sequence[State]) -> list[Row]:
        """Return the channel's rows in these states that fit."""
        rows = [row for row in self.tables.rows.values() if row.channel == self.channel]
        return [row for row in rows if row.state in states and fits(row)][:SWEEP_LIMIT]

    def _move(self, row: Row, after: State, reason: str) -> Swept:
        before, now = row.state, self.tables.now()
        self.tables.move(row, after)
        row.reason, row.lease_until, row.next_attempt_at = reason, None, now
        if before is State.CLAIMED:
            tried = self.tables.attempts[row.delivery_id, row.attempt]
            tried.finished_at, tried.outcome, tried.reason = now, after, reason
        return _swept(row, before)


def _lease(row: Row) -> float:
    assert row.lease_until is not None
    return row.lease_until


def _swept(row: Row, before: State) -> Swept:
    return Swept(
        delivery_id=row.delivery_id,
        alert_id=row.alert_id,
        channel=row.channel,
        recipient=row.recipient,
        severity=row.severity,
        before=before,
        attempt=row.attempt,
        fence=row.fence,
        marked_repeat=row.marked_repeat,
    )
