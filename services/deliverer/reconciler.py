"""Ends doubts by evidence: asks the provider, at the channel's times, what it has taken."""

import asyncio
from dataclasses import dataclass
from typing import Final

from services.backbone.clock import Clock
from services.backbone.errors import Transient
from services.backbone.ledger.deliveries.evidence import AsyncEvidenceBook, Evidence, EvidenceKind
from services.backbone.ledger.deliveries.look_ups import LookUps, Question
from services.backbone.ledger.deliveries.turns import Turns
from services.backbone.log import logger
from services.contracts.records import Delivery, Malformed
from services.deliverer import metrics
from services.deliverer.channel import Absent, Doubt, Finding, Taken, Unclear, Undelivered, Witness
from services.deliverer.pace import Pace, Paced

log = logger(__name__)

CONCURRENCY: Final = 4
"""Look-ups at once."""
SOURCE: Final = "look-up"


@dataclass
class Reconciler:
    """Asks a witness about doubts, whoever's send they come from.

    Look-ups count against the provider's rate, and take at most half of it: `share` allows them,
    and `sends` gives each its turn.
    """

    witness: Witness
    look_ups: LookUps
    book: AsyncEvidenceBook
    clock: Clock
    channel: str
    lease_seconds: float
    timeout_seconds: float
    interval_seconds: float
    share: Pace
    sends: Paced

    async def run(self, stop: asyncio.Event) -> None:
        """Ask until stopped."""
        while not stop.is_set():
            try:
                await self.turn()
            except Transient as error:
                log.warning("look_ups_wait", reason=str(error))
            try:
                async with asyncio.timeout(self.interval_seconds):
                    await stop.wait()
            except TimeoutError:
                continue

    async def turn(self) -> int:
        """Make the look-ups that are due, as many as may be made now; return how many.

        Raises:
            Transient: Postgres is away.
        """
        allowed = await self.share.turns(CONCURRENCY)
        room = len(allowed.in_seconds)
        questions: list[Question] = []
        if room:
            again_after = 3 * self.timeout_seconds
            questions = await self.look_ups.due(room, again_after_seconds=again_after)
            await self.share.give_back(allowed, room - len(questions))
        turns = await self.sends.surely(len(questions))
        await asyncio.gather(
            *(self._answer(each, turns, number) for number, each in enumerate(questions))
        )
        return len(questions)

    async def _answer(self, question: Question, turns: Turns, number: int) -> None:
        await asyncio.sleep(turns.wait_seconds(number, self.clock.monotonic_seconds()))
        finding = await self._ask(question)
        log.info(
            "looked_up",
            delivery_id=question.delivery_id,
            attempt=question.attempt,
            number=question.number,
            finding=type(finding).__name__,
            detail=finding.detail,
        )
        metrics.LOOK_UPS.labels(self.channel, type(finding).__name__.lower()).inc()
        if (evidence := evidence_of(finding, question)) is not None:
            await self.book.give([evidence])
        await self.look_ups.answered(question, f"{type(finding).__name__}: {finding.detail}")

    async def _ask(self, question: Question) -> Finding:
        lease_over_at_ms = question.claimed_at_ms + int(self.lease_seconds * 1000)
        try:
            doubt = Doubt(
                delivery=Delivery.decode(question.record.encode()),
                attempt=question.attempt,
                claimed_at_ms=question.claimed_at_ms,
                lease_over_at_ms=lease_over_at_ms,
                provider_id=question.provider_id,
            )
            async with asyncio.timeout(self.timeout_seconds):
                finding = await self.witness.look_up(doubt)
        except (Malformed, Transient) as error:
            return Unclear(str(error))
        except TimeoutError:
            return Unclear("the provider did not answer in time")
        if isinstance(finding, Absent) and self.clock.now_ms() < lease_over_at_ms:
            return Unclear(f"absent, but the try's lease is not over: {finding.detail}")
        return finding


def evidence_of(finding: Finding, question: Question) -> Evidence | None:
    """Return what a finding proves; None if nothing."""
    match finding:
        case Taken(provider_id, detail):
            kind = EvidenceKind.TAKEN
        case Undelivered(provider_id, detail):
            kind = EvidenceKind.UNDELIVERED
        case Absent(detail):
            kind, provider_id = EvidenceKind.ABSENT, ""
        case Unclear():
            return None
    return Evidence(
        question.delivery_id, kind, SOURCE, provider_id, detail, attempt=question.attempt
    )
