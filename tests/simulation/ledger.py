"""The ledger as programs see it: the memory's statements behind a line that may fail.

Each class is a subclass of the real one, so that a statement which the model lacks is found by its
missing pool.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from services.backbone.clock import Clock
from services.backbone.ledger.alerts.intake import Accepted, Intake, NewAlert
from services.backbone.ledger.alerts.outbox import Listed, Outbox, OutboxEntry
from services.backbone.ledger.deliveries.claims import (
    CLAIM_LIMIT_CHARACTERS,
    Claim,
    Claims,
    Due,
    Settlement,
)
from services.backbone.ledger.deliveries.evidence import AsyncEvidenceBook, Evidence
from services.backbone.ledger.deliveries.look_ups import LookUps, Question
from services.backbone.ledger.deliveries.moves import Move
from services.backbone.ledger.deliveries.occasions import Occasion, Occasions
from services.backbone.ledger.deliveries.sweeps import Fenced, Ruling, Standing, Sweeps, Swept
from services.backbone.ledger.deliveries.turns import AHEAD_SECONDS, InTurn, Rate, Turns
from services.backbone.ledger.deliveries.untold import UntoldMoves
from services.contracts.states import State
from tests.simulation.memory.claims import MemoryClaims
from tests.simulation.memory.evidence import MemoryEvidence
from tests.simulation.memory.intake import MemoryIntake
from tests.simulation.memory.look_ups import MemoryLookUps, MemoryUntold
from tests.simulation.memory.occasions import MemoryOccasions
from tests.simulation.memory.outbox import MemoryOutbox
from tests.simulation.memory.sweeps import MemorySweeps
from tests.simulation.memory.turns import MemoryRate
from tests.simulation.store import Line


class LineClaims(Claims):
    """Claims over a line."""

    def __init__(self, line: Line, memory: MemoryClaims) -> None:
        self._line = line
        self.memory = memory

    async def by_id(
        self, delivery_ids: Sequence[str], limit: int, characters: int = CLAIM_LIMIT_CHARACTERS
    ) -> list[Claim]:
        asked = (delivery_ids, limit, characters)
        return await self._line.ask("by_id", lambda: self.memory.by_id(*asked))

    async def due(self, due: Due) -> list[Claim]:
        return await self._line.ask("due", lambda: self.memory.due(due))

    async def states(self, delivery_ids: Sequence[str]) -> dict[str, State]:
        return await self._line.ask("states", lambda: self.memory.states(delivery_ids))

    async def settle(self, settlements: Sequence[Settlement]) -> dict[str, State]:
        return await self._line.ask("settle", lambda: self.memory.settle(settlements))


class LineSweeps(Sweeps):
    """Sweeps over a line."""

    def __init__(self, line: Line, memory: MemorySweeps) -> None:
        self._line = line
        self._memory = memory

    async def lease_over(self) -> list[Swept]:
        return await self._line.ask("lease_over", self._memory.lease_over)

    async def lost(self, known: Sequence[Fenced]) -> list[Fenced]:
        return await self._line.ask("lost", lambda: self._memory.lost(known))

    async def give_back(self, lost: Sequence[Fenced]) -> list[Swept]:
        return await self._line.ask("give_back", lambda: self._memory.give_back(lost))

    async def too_old(self) -> list[Swept]:
        return await self._line.ask("too_old", self._memory.too_old)

    async def doubtful(self, deadline_seconds: float, asked: int = -1) -> list[Swept]:
        def work() -> list[Swept]:
            return self._memory.doubtful(deadline_seconds, asked)

        return await self._line.ask("doubtful", work)

    async def rule(self, rulings: Sequence[Ruling]) -> set[str]:
        return await self._line.ask("rule", lambda: self._memory.rule(rulings))

    async def standing(self) -> Standing:
        return await self._line.ask("standing", self._memory.standing)


class LineOccasions(Occasions):
    """Occasions over a line."""

    def __init__(self, line: Line, memory: MemoryOccasions) -> None:
        self._line = line
        self._memory = memory

    async def ask(
        self, known: Sequence[Fenced], deadline_seconds: float, asked: int = -1
    ) -> Occasion:
        return await self._line.ask(
            "occasion", lambda: self._memory.ask(known, deadline_seconds, asked)
        )


class LineEvidence(AsyncEvidenceBook):
    """Evidence over a line."""

    def __init__(self, line: Line, memory: MemoryEvidence) -> None:
        self._line = line
        self._memory = memory

    async def give(self, evidence: Sequence[Evidence]) -> list[Move]:
        return await self._line.ask("give", lambda: self._memory.give(evidence))

    async def weigh(self, channel: str) -> list[Move]:
        return await self._line.ask("weigh", lambda: self._memory.weigh(channel))


class LineUntold(UntoldMoves):
    """Untold moves over a line."""

    def __init__(self, line: Line, memory: MemoryUntold) -> None:
        self._line = line
        self._memory = memory

    async def take(self) -> list[Move]:
        return await self._line.ask("untold", self._memory.take)


class LineLookUps(LookUps):
    """Look-ups over a line."""

    def __init__(self, line: Line, memory: MemoryLookUps) -> None:
        self._line = line
        self._memory = memory

    async def due(self, limit: int, again_after_seconds: float) -> list[Question]:
        def work() -> list[Question]:
            return self._memory.due(limit, again_after_seconds)

        return await self._line.ask("look_ups", work)

    async def answered(self, question: Question, finding: str) -> None:
        await self._line.ask("answered", lambda: self._memory.answered(question, finding))


class LineRate(Rate):
    """Turns over a line."""

    def __init__(self, line: Line, memory: MemoryRate, clock: Clock) -> None:
        self._line = line
        self._memory = memory
        self._now = clock.monotonic_seconds

    async def claim(self, claims: Claims, due: Due) -> InTurn:
        assert isinstance(claims, LineClaims)
        asked_at = self._now()
        found = await self._line.ask("due", lambda: self._memory.claim(claims.memory, due))
        return replace(found, turns=found.turns.timed(asked_at, self._now()))

    async def turns(self, wanted: int, ahead_seconds: float = AHEAD_SECONDS) -> Turns:
        asked_at = self._now()
        given = await self._line.ask("turns", lambda: self._memory.turns(wanted, ahead_seconds))
        return given.timed(asked_at, self._now())

    async def give_back(self, turns: Turns, unused: int) -> None:
        if unused:
            await self._line.ask("turns_back", lambda: self._memory.give_back(turns, unused))


class LineIntake(Intake):
    """Intake over a line."""

    def __init__(self, line: Line, memory: MemoryIntake) -> None:
        self._line = line
        self._memory = memory

    def accept(self, batch: Sequence[NewAlert]) -> Accepted:
        return self._line.ask_now("accept", lambda: self._memory.accept(batch))

    def recorded(self, alert_ids: Collection[str]) -> set[str]:
        return self._line.ask_now("recorded", lambda: self._memory.recorded(alert_ids))

    def secure(self) -> None:
        self._line.ask_now("secure", self._memory.secure)


class LineOutbox(Outbox):
    """Outbox over a line."""

    def __init__(self, line: Line, memory: MemoryOutbox) -> None:
        self._line = line
        self._memory = memory

    def mark_published(self, delivery_ids: Iterable[str]) -> None:
        ids = list(delivery_ids)
        self._line.ask_now("mark", lambda: self._memory.mark_published(ids))

    def unpublished(self, *, after: str, older_than_seconds: float, limit: int) -> list[Listed]:
        def work() -> list[Listed]:
            return self._memory.unpublished(
                after=after, older_than_seconds=older_than_seconds, limit=limit
            )

        return self._line.ask_now("unpublished", work)

    def entries(self, delivery_ids: Sequence[str]) -> list[OutboxEntry]:
        return self._line.ask_now("read", lambda: self._memory.entries(delivery_ids))

    def waiting(self, older_than_seconds: float = 0.0) -> int:
        return self._line.ask_now("waiting", lambda: self._memory.waiting(older_than_seconds))
