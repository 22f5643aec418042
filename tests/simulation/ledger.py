"""The ledger as programs see it: the memory's statements behind a line that may fail.

Each class is a subclass of the real one, so that a statement which the model lacks is found by its
missing pool.
"""

from collections.abc import Iterable, Sequence

from services.backbone.ledger.claims import Claim, Claims, Due, Settlement
from services.backbone.ledger.intake import Accepted, Intake, NewAlert, OutboxEntry
from services.backbone.ledger.sweeps import Ruling, Standing, Sweeps, Swept
from services.contracts.states import State
from tests.simulation.memory.claims import MemoryClaims
from tests.simulation.memory.intake import MemoryIntake
from tests.simulation.memory.sweeps import MemorySweeps
from tests.simulation.store import Line


class LineClaims(Claims):
    """Claims over a line."""

    def __init__(self, line: Line, memory: MemoryClaims) -> None:
        self._line = line
        self._memory = memory

    async def by_id(self, delivery_ids: Sequence[str], limit: int) -> list[Claim]:
        return await self._line.ask("by_id", lambda: self._memory.by_id(delivery_ids, limit))

    async def due(self, due: Due) -> list[Claim]:
        return await self._line.ask("due", lambda: self._memory.due(due))

    async def present(self, delivery_ids: Sequence[str]) -> set[str]:
        return await self._line.ask("present", lambda: self._memory.present(delivery_ids))

    async def settle(self, settlements: Sequence[Settlement]) -> dict[str, State]:
        return await self._line.ask("settle", lambda: self._memory.settle(settlements))


class LineSweeps(Sweeps):
    """Sweeps over a line."""

    def __init__(self, line: Line, memory: MemorySweeps) -> None:
        self._line = line
        self._memory = memory

    async def lease_over(self) -> list[Swept]:
        return await self._line.ask("lease_over", self._memory.lease_over)

    async def unsent(self, known: Sequence[tuple[str, int]]) -> list[Swept]:
        return await self._line.ask("unsent", lambda: self._memory.unsent(known))

    async def too_old(self) -> list[Swept]:
        return await self._line.ask("too_old", self._memory.too_old)

    async def doubtful(self, deadline_seconds: float) -> list[Swept]:
        return await self._line.ask("doubtful", lambda: self._memory.doubtful(deadline_seconds))

    async def rule(self, rulings: Sequence[Ruling]) -> set[str]:
        return await self._line.ask("rule", lambda: self._memory.rule(rulings))

    async def standing(self) -> Standing:
        return await self._line.ask("standing", self._memory.standing)


class LineIntake(Intake):
    """Intake over a line."""

    def __init__(self, line: Line, memory: MemoryIntake) -> None:
        self._line = line
        self._memory = memory

    def accept(self, batch: Sequence[NewAlert]) -> Accepted:
        return self._line.ask_now("accept", lambda: self._memory.accept(batch))

    def mark_published(self, delivery_ids: Iterable[str]) -> None:
        ids = list(delivery_ids)
        self._line.ask_now("mark", lambda: self._memory.mark_published(ids))

    def unpublished(
        self, *, after: str, older_than_seconds: float, limit: int
    ) -> list[OutboxEntry]:
        def work() -> list[OutboxEntry]:
            return self._memory.unpublished(
                after=after, older_than_seconds=older_than_seconds, limit=limit
            )

        return self._line.ask_now("unpublished", work)

    def waiting(self) -> int:
        return self._line.ask_now("waiting", self._memory.waiting)
