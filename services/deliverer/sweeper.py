"""Looks after what time changes: leases, doubts, age; and counts what is open."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from services.backbone.clock import Clock
from services.backbone.errors import Transient
from services.backbone.ledger.deliveries.evidence import AsyncEvidenceBook
from services.backbone.ledger.deliveries.occasions import Occasions
from services.backbone.ledger.deliveries.sweeps import SWEEP_LIMIT, Ruling, Sweeps, Swept
from services.backbone.ledger.deliveries.untold import UntoldMoves
from services.backbone.log import logger
from services.contracts.states import State
from services.deliverer import metrics
from services.deliverer.announcer import Announcer
from services.deliverer.decision import Policy, decide_doubt
from services.deliverer.doubts import DoubtTerms
from services.deliverer.in_flight import InFlight

log = logger(__name__)

COUNT_SECONDS = 5.0
"""Counting reads some thousand rows, so it is done less often than the rest."""
STALE_SECONDS = 30.0
"""What waited longer ago is not shown: an outage would look as if nothing came to wait."""
STATEMENTS_LIMIT = 20
"""Statements of one kind in one turn."""


async def _nothing() -> None:
    return


@dataclass
class Sweeper:
    """Sweeps one channel's rows every `interval_seconds`, whoever owns them."""

    occasions: Occasions
    sweeps: Sweeps
    book: AsyncEvidenceBook
    untold: UntoldMoves
    in_flight: InFlight
    announcer: Announcer
    policy: Policy
    doubts: DoubtTerms
    clock: Clock
    channel: str
    interval_seconds: float
    heed: Callable[[bool], None]
    """Is told whether a person has stopped the channel."""
    tell: Callable[[], Awaitable[None]] = _nothing
    """Tells the ledger what only this deliverer knows."""
    trouble: str | None = "has not been asked yet"
    """Why the ledger cannot be used, or None."""
    turned_at: float = 0.0
    _count_at: float = 0.0
    _counted_at: float = 0.0

    async def run(self, stop: asyncio.Event) -> None:
        """Sweep until stopped."""
        while not stop.is_set():
            self.turned_at = self.clock.monotonic_seconds()
            try:
                await self.sweep()
                self.trouble = None
            except Transient as error:
                self.trouble = str(error)
                log.warning("sweep_waits", reason=self.trouble)
                self._hide_stale()
            try:
                async with asyncio.timeout(self.interval_seconds):
                    await stop.wait()
            except TimeoutError:
                continue

    async def sweep(self) -> None:
        """Do all sweeps once, if there is anything for them.

        Raises:
            Transient: Postgres is away.
        """
        occasion = await self.occasions.ask(
            self.in_flight.ids(), self.doubts.wait_seconds, self.doubts.last_look_up
        )
        await self._heed(occasion.is_paused)
        await self.tell()
        if occasion.has_work:
            await self._move()
        if self.turned_at >= self._count_at:
            self._count_at = self.turned_at + COUNT_SECONDS
            await self._count()

    async def _heed(self, is_paused: bool) -> None:
        """Show it as stopped once no claim is under way that began before."""
        self.heed(is_paused)
        if is_paused:
            async with self.in_flight.claiming:
                pass
        metrics.PAUSED.labels(self.channel).set(is_paused)

    async def _move(self) -> None:
        await self._give_back()
        self._tell(await self.sweeps.lease_over(), State.IN_DOUBT)
        await self._hold_old()
        await self.book.weigh(self.channel)
        await self._judge_doubts()
        await self._tell_others()

    async def _give_back(self) -> None:
        """Let others have claims that nobody here knows of, since their answers were lost."""
        async with self.in_flight.claiming:
            found = await self.sweeps.lost(self.in_flight.ids())
        if lost := self.in_flight.never_had(found):
            self._tell(await self.sweeps.give_back(lost), State.RETRY_WAIT)

    async def _hold_old(self) -> None:
        """Hold what is too old; a turn may take several statements, since claims step over it."""
        for _ in range(STATEMENTS_LIMIT):
            old = await self.sweeps.too_old()
            self._tell(old, State.HELD)
            if len(old) < SWEEP_LIMIT:
                return

    async def _judge_doubts(self) -> None:
        doubtful = await self.sweeps.doubtful(self.doubts.wait_seconds, self.doubts.last_look_up)
        if not doubtful:
            return
        rulings = {row.delivery_id: _ruling(row, self.policy) for row in doubtful}
        ruled = await self.sweeps.rule(list(rulings.values()))
        for row in doubtful:
            ruling = rulings[row.delivery_id]
            if row.delivery_id in ruled:
                self._tell([row], ruling.after, ruling.reason)

    async def _tell_others(self) -> None:
        """Tell what evidence and people have moved, in whatever program."""
        for move in await self.untold.take():
            log.info(
                "delivery_moved",
                delivery_id=move.delivery_id,
                alert_id=move.alert_id,
                attempt=move.attempt,
                states=move.path,
                reason=move.reason,
                provider_id=move.provider_id,
            )
            self.announcer.moved(move, move.before, move.path, move.reason, move.provider_id)
            metrics.TOLD.labels(self.channel, move.path[-1]).inc()

    def _tell(self, rows: Sequence[Swept], after: State, reason: str = "") -> None:
        for row in rows:
            log.warning(
                "delivery_swept",
                delivery_id=row.delivery_id,
                alert_id=row.alert_id,
                attempt=row.attempt,
                before=row.before,
                after=after,
                reason=reason,
            )
            self.announcer.moved(row, row.before, (after,), reason)
            metrics.SWEPT.labels(self.channel, after).inc()

    async def _count(self) -> None:
        standing = await self.sweeps.standing()
        metrics.IN_DOUBT.labels(self.channel).set(standing.in_doubt)
        metrics.HELD.labels(self.channel).set(standing.held)
        metrics.DUE.labels(self.channel).set(standing.due)
        metrics.OVERDUE_SECONDS.labels(self.channel).set(standing.overdue_seconds)
        self._counted_at = self.turned_at

    def _hide_stale(self) -> None:
        shown_seconds = max(STALE_SECONDS, 2 * self.interval_seconds)
        if self.clock.monotonic_seconds() - self._counted_at > shown_seconds:
            for gauge in metrics.WAITING:
                gauge.remove(self.channel)


def _ruling(row: Swept, policy: Policy) -> Ruling:
    verdict = decide_doubt(row.severity, row.attempt, row.marked_repeat, policy)
    return Ruling(
        delivery_id=row.delivery_id,
        fence=row.fence,
        after=verdict.path[-1],
        marked_repeat=verdict.marked_repeat,
        reason=verdict.reason,
    )
