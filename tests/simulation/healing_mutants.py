"""Known bugs that heal: for a moment something is lost or hidden, and at rest all is well again.

A crash at that moment would make it last. Only a judge of single steps (step_judge.py) can see it.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final
from unittest.mock import patch

from services.backbone.ledger.alerts.intake import Accepted, NewAlert
from services.backbone.ledger.deliveries.claims import Claim, Settlement
from services.backbone.loop import ConsumerLoop
from services.contracts.states import State
from tests.simulation.ledger import LineClaims, LineIntake
from tests.simulation.memory.claims import MemoryClaims
from tests.simulation.memory.tables import Row
from tests.simulation.store import Line

Planted = AbstractContextManager[Any]
ENDLESS_SECONDS: Final = 86_400.0


def _hide(line: Line, row: Row) -> None:
    rows = line.store.tables.rows
    del rows[row.delivery_id]
    line.kernel.after(0.0, lambda: rows.setdefault(row.delivery_id, row))


def _committed_before_it_is_secured() -> Planted:
    def commit(self: ConsumerLoop[Any]) -> None:
        held = self._held
        if held:
            self.consumer.commit([each for batch in held for each in batch])
            self._done(self._secure_held)
            held.clear()

    return patch.object(ConsumerLoop, "_commit_held", commit)


def _recorded_without_its_deliveries() -> Planted:
    real = LineIntake.accept

    def accept(self: LineIntake, batch: Sequence[NewAlert]) -> Accepted:
        def late(new: Sequence[NewAlert]) -> Accepted:
            accepted = memory_accept(new)
            for row in [row for row in memory.tables.rows.values() if row.published_at is None]:
                _hide(self._line, row)
            return accepted

        memory = self._memory
        memory_accept = memory.accept
        with patch.object(type(memory), "accept", lambda _, new: late(new)):
            return real(self, batch)

    return patch.object(LineIntake, "accept", accept)


def _settled_rows_are_away_for_a_moment() -> Planted:
    real = LineClaims.settle

    async def settle(self: LineClaims, settlements: Sequence[Settlement]) -> dict[str, State]:
        before = await real(self, settlements)
        for row in [self.memory.tables.rows[each] for each in before]:
            _hide(self._line, row)
        return before

    return patch.object(LineClaims, "settle", settle)


def _age_begins_anew() -> Planted:
    real = MemoryClaims._claim  # noqa: SLF001 - the mutant changes one value inside

    def claim(self: MemoryClaims, row: Row, now: float) -> Claim:
        row.created_at = now
        return real(self, row, now)

    return patch.object(MemoryClaims, "_claim", claim)


def _lease_never_ends() -> Planted:
    real = MemoryClaims._claim  # noqa: SLF001 - the mutant changes one value inside

    def claim(self: MemoryClaims, row: Row, now: float) -> Claim:
        made = real(self, row, now)
        row.lease_until = now + ENDLESS_SECONDS
        return made

    return patch.object(MemoryClaims, "_claim", claim)


def _tries_are_tidied_away() -> Planted:
    real = MemoryClaims.settle

    def settle(self: MemoryClaims, settlements: Sequence[Settlement]) -> dict[str, State]:
        before = real(self, settlements)
        for key in before:
            self.tables.attempts.pop((key, self.tables.rows[key].attempt))
        return before

    return patch.object(MemoryClaims, "settle", settle)


HEALING_MUTANTS: Final[dict[str, Callable[[], Planted]]] = {
    "an offset is committed a moment too soon": _committed_before_it_is_secured,
    "an alert is recorded a moment before its deliveries": _recorded_without_its_deliveries,
    "a settled row is away for a moment": _settled_rows_are_away_for_a_moment,
    "the age begins anew with each try": _age_begins_anew,
    "a lease never ends": _lease_never_ends,
    "tries are tidied away when they are over": _tries_are_tidied_away,
}
"""Each by a sentence that says what is wrong."""
