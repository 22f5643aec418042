"""Claiming and settling, in memory; see ledger/deliveries/claims.py."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from services.backbone.ledger.deliveries.claims import (
    CLAIM_LIMIT_CHARACTERS,
    Claim,
    Due,
    Settlement,
)
from services.backbone.ledger.deliveries.evidence import EvidenceKind
from services.contracts.states import TERMINAL, State
from tests.simulation.memory.tables import (
    SENDABLE,
    AttemptRow,
    PieceKey,
    PieceRow,
    Row,
    Tables,
)


@dataclass(frozen=True)
class MemoryClaims:
    """The statements of Claims, each at one moment."""

    tables: Tables
    channel: str
    owner: str
    lease_seconds: float
    age_limit_seconds: float

    def by_id(
        self, delivery_ids: Sequence[str], limit: int, characters: int = CLAIM_LIMIT_CHARACTERS
    ) -> list[Claim]:
        """Claim those of the deliveries that are due, at most `limit`."""
        wanted = set(delivery_ids)
        return self._claimed(lambda row: row.delivery_id in wanted, limit, characters)

    def due(self, due: Due) -> list[Claim]:
        """Claim due deliveries, longest overdue first."""
        without = set(due.without)

        def fits(row: Row) -> bool:
            wanted = due.only is None or row.recipient in due.only
            return wanted and row.recipient not in without

        return self._claimed(fits, due.limit, due.characters)

    def states(self, delivery_ids: Sequence[str]) -> dict[str, State]:
        """Return the states, by id, of those that are deliveries of this channel."""
        found = (self.tables.rows.get(each) for each in delivery_ids)
        return {row.delivery_id: row.state for row in found if row and row.channel == self.channel}

    def settle(self, settlements: Sequence[Settlement]) -> dict[str, State]:
        """Record outcomes; return the state before of those rows that moved."""
        before: dict[str, State] = {}
        for each in settlements:
            row = self.tables.rows.get(each.delivery_id)
            if row is None:
                continue
            state = row.state
            if row.fence == each.fence and row.owner == self.owner:
                self._settle(row, each, before)
            if each.outcome is State.SENT and each.delivery_id not in before:
                self._keep_late(row, state, each)
            self._finish(each)
        return before

    def _claimed(self, fits: Callable[[Row], bool], limit: int, characters: int) -> list[Claim]:
        now = self.tables.now()
        due = [row for row in self.tables.rows.values() if self._is_due(row, now) and fits(row)]
        due.sort(key=lambda row: row.next_attempt_at)
        return [self._claim(row, now) for row in _fitting(due[:limit], characters)]

    def _is_due(self, row: Row, now: float) -> bool:
        return (
            row.channel == self.channel
            and row.state in SENDABLE
            and row.next_attempt_at <= now
            and (
                row.aged_since > now - self.age_limit_seconds
                or self.tables.has_word(row.delivery_id, self.age_limit_seconds)
            )
            and not self.tables.has_unweighed(row.delivery_id)
        )

    def _claim(self, row: Row, now: float) -> Claim:
        before = row.state
        self.tables.move(row, State.CLAIMED)
        row.fence, row.attempt = row.fence + 1, row.attempt + 1
        row.owner, row.lease_until = self.owner, now + self.lease_seconds
        row.published_at = now if row.published_at is None else row.published_at
        tried = AttemptRow(row.fence, self.owner, now)
        self.tables.attempts[row.delivery_id, row.attempt] = tried
        return Claim(
            delivery_id=row.delivery_id,
            alert_id=row.alert_id,
            channel=row.channel,
            recipient=row.recipient,
            record=row.record,
            before=before,
            attempt=row.attempt,
            fence=row.fence,
            marked_repeat=row.marked_repeat,
            at_once="asked_at_ms" not in row.plan and row.next_attempt_at <= row.created_at + 1.0,
        )

    def _settle(self, row: Row, told: Settlement, before: dict[str, State]) -> None:
        if row.state is State.CLAIMED:
            path: Iterable[State] = dict.fromkeys((told.outcome, told.after))
        elif row.state is State.IN_DOUBT and told.late_after is not None:
            path = (told.late_after,)
        else:
            return
        before[row.delivery_id] = row.state
        self.tables.move(row, *path)
        row.lease_until, row.reason = None, told.reason
        row.provider_id = told.provider_id or row.provider_id
        row.next_attempt_at = self.tables.now() + told.retry_in_seconds

    def _keep_late(self, row: Row, state: State, told: Settlement) -> None:
        """Keep an acceptance that comes after its doubt was ruled, to be weighed."""
        for number, _ in self._tries(told):
            if state not in TERMINAL:
                key = PieceKey(
                    row.delivery_id, EvidenceKind.TAKEN, "answer", told.provider_id, number
                )
                self.tables.pieces.setdefault(key, PieceRow("answered late"))

    def _tries(self, told: Settlement) -> list[tuple[int, AttemptRow]]:
        return [
            (number, each)
            for number, each in self.tables.tries(told.delivery_id).items()
            if each.fence == told.fence and each.owner == self.owner
        ]

    def _finish(self, told: Settlement) -> None:
        for _, tried in self._tries(told):
            if tried.outcome in (None, State.IN_DOUBT):
                tried.finished_at, tried.outcome = self.tables.now(), told.outcome
                tried.reason, tried.provider_id = told.reason, told.provider_id


def _fitting(due: Sequence[Row], characters: int) -> list[Row]:
    """Return the first of them, until they are long enough together."""
    before = accumulate((len(row.record) for row in due), initial=0)
    return [row for row, so_far in zip(due, before, strict=False) if so_far < characters]
