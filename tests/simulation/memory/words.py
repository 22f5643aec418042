"""A person's word, in memory: send again or close; see ledger/operators/words.py."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from services.backbone.ledger.deliveries.moves import Move
from services.backbone.ledger.operators.words import RESEND, Word
from services.contracts.states import State
from tests.simulation.memory.tables import Row, Tables

CLOSE: Final = "close"
_AFTER: Final[Mapping[str, State]] = MappingProxyType(
    {RESEND: State.RETRY_WAIT, CLOSE: State.CLOSED}
)
_MAYBE_TAKEN: Final = (None, State.IN_DOUBT, State.SENT, State.CONFIRMED)
"""Outcomes of a try behind which a repeat has the mark."""


@dataclass(frozen=True)
class MemoryWords:
    """The statement of a word that is no evidence, at one moment."""

    tables: Tables

    def give(self, word: Word) -> bool:
        """Move a delivery as a person decided; False if it does not wait for that."""
        row = self.tables.rows.get(word.delivery_id)
        if row is None or not _waits(row, word.action):
            return False
        before, after = row.state, _AFTER[word.action]
        self.tables.move(row, after)
        row.marked_repeat |= word.action == RESEND and self._may_be_taken(row)
        row.reason = f"{word.action} by {word.person}: {word.why}"
        row.next_attempt_at = self.tables.now()
        told = (row.delivery_id, row.alert_id, row.channel, row.recipient, row.attempt)
        self.tables.untold.append(Move(*told, before, (after,), row.reason, ""))
        self.tables.words[row.delivery_id] = self.tables.now()
        if word.action == CLOSE:
            self.tables.closed[row.delivery_id] = before
        return True

    def _may_be_taken(self, row: Row) -> bool:
        tries = self.tables.tries(row.delivery_id).values()
        return any(each.outcome in _MAYBE_TAKEN for each in tries)


def _waits(row: Row, action: str) -> bool:
    doubtful = row.state is State.IN_DOUBT and action == RESEND
    return doubtful or row.state in (State.HELD, State.FAILED)
