"""Look-ups and untold moves, in memory; see ledger/deliveries/look_ups.py and untold.py."""

from dataclasses import dataclass

from services.backbone.ledger.deliveries.look_ups import HELD_SECONDS, Question
from services.backbone.ledger.deliveries.moves import Move
from services.contracts.states import State
from tests.simulation.memory.tables import AttemptRow, LookUpRow, Row, Tables


@dataclass(frozen=True)
class MemoryLookUps:
    """The statements of LookUps, each at one moment."""

    tables: Tables
    channel: str
    times_seconds: tuple[float, ...]

    def due(self, limit: int, again_after_seconds: float) -> list[Question]:
        """Take look-ups that are due."""
        doubts = [
            (row, tried)
            for row in self.tables.rows.values()
            if (tried := self._doubtful_try(row)) is not None
        ]
        doubts.sort(key=lambda each: each[1].finished_at or 0.0)
        questions: list[Question] = []
        for row, tried in doubts:
            number = self._number(tried)
            if (
                number >= 0
                and len(questions) < limit
                and self._ask(row, number, again_after_seconds)
            ):
                questions.append(_question(row, tried, number))
        return questions

    def answered(self, question: Question, finding: str) -> None:
        """Keep what the provider said."""
        kept = self.tables.look_ups.get((question.delivery_id, question.attempt, question.number))
        if kept is not None:
            kept.answered_at, kept.finding = self.tables.now(), finding

    def _doubtful_try(self, row: Row) -> AttemptRow | None:
        tried = self.tables.attempts.get((row.delivery_id, row.attempt))
        if row.channel != self.channel or tried is None or tried.outcome is not State.IN_DOUBT:
            return None
        held_until = row.updated_at + max(self.times_seconds, default=0.0) + HELD_SECONDS
        held = row.state is State.HELD and held_until > self.tables.now()
        return tried if held or row.state is State.IN_DOUBT else None

    def _number(self, tried: AttemptRow) -> int:
        assert tried.finished_at is not None
        since = self.tables.now() - tried.finished_at
        return sum(seconds <= since for seconds in self.times_seconds) - 1

    def _ask(self, row: Row, number: int, again_after_seconds: float) -> bool:
        key, now = (row.delivery_id, row.attempt, number), self.tables.now()
        kept = self.tables.look_ups.get(key)
        if kept is not None and (
            kept.answered_at is not None or kept.asked_at > now - again_after_seconds
        ):
            return False
        self.tables.look_ups[key] = LookUpRow(now)
        return True


@dataclass(frozen=True)
class MemoryUntold:
    """The statement of UntoldMoves."""

    tables: Tables
    channel: str

    def take(self) -> list[Move]:
        """Take all of them, for good."""
        taken = self.waiting
        self.tables.untold[:] = [
            each for each in self.tables.untold if each.channel != self.channel
        ]
        return taken

    @property
    def waiting(self) -> list[Move]:
        """What is still to be told."""
        return [each for each in self.tables.untold if each.channel == self.channel]


def _question(row: Row, tried: AttemptRow, number: int) -> Question:
    claimed_at_ms = int(tried.claimed_at * 1000)
    return Question(
        row.delivery_id, row.attempt, number, row.record, tried.provider_id, claimed_at_ms
    )
