"""One claim, one send, one recorded outcome."""

import asyncio
import random
from dataclasses import dataclass, field
from typing import Final

from services.backbone.cancelling import is_cancelled
from services.backbone.clock import Clock
from services.backbone.ledger.deliveries.claims import Claim, Settlement
from services.backbone.log import logger
from services.contracts.records import Delivery, Malformed
from services.contracts.states import State
from services.deliverer import metrics
from services.deliverer.announcer import Announcer
from services.deliverer.breaker import Breakers, Send
from services.deliverer.channel import Channel, Message, SendWindow, TooLate, Traits
from services.deliverer.decision import Policy, Verdict, decide
from services.deliverer.outcomes import Outcome, Permanent, Refused, Unknown
from services.deliverer.recorder import Recorder
from services.deliverer.trust import Standing, Trust

log = logger(__name__)

_STOPPED: Final = "this program was told to stop before the answer came"
_SILENT: Final = "no answer in time"
_CALLED_OFF: Final = "the channel's client called the send off, as when its connection is lost"


@dataclass
class Sender:
    """Sends what was claimed and has the outcome recorded."""

    channel: Channel
    traits: Traits
    policy: Policy
    recorder: Recorder
    announcer: Announcer
    breakers: Breakers
    trust: Trust
    clock: Clock
    rng: random.Random
    _is_stopping: bool = False
    _under_way: set[asyncio.Timeout] = field(default_factory=set)
    """The time limits of sends that have no answer yet."""

    def cut_off(self) -> None:
        """Let no send begin any more, and end those without an answer as far as they got."""
        self._is_stopping = True
        now = asyncio.get_running_loop().time()
        for limit in self._under_way:
            if not limit.expired():
                limit.reschedule(now)

    async def deliver(
        self, claim: Claim, standing: Standing, window: SendWindow, wait_seconds: float = 0.0
    ) -> None:
        """Send once, after a wait for its turn; return when the ledger has what came of it."""
        begun = self.clock.monotonic_seconds()
        try:
            message = Message(
                Delivery.decode(claim.record.encode()), claim.attempt, claim.marked_repeat
            )
        except Malformed as error:
            outcome: Outcome = Permanent(f"the ledger's record cannot be read: {error}")
        else:
            outcome = await self._attempt(message, window, wait_seconds)
            self._measure(claim, message, window, begun)
        self._learn(claim.channel, standing, outcome, window, begun)
        await self._record(claim, outcome)

    async def _attempt(self, message: Message, window: SendWindow, wait_seconds: float) -> Outcome:
        if self._is_stopping:
            return _cut_off(window, _STOPPED)
        limit = asyncio.timeout(window.remaining_seconds())
        self._under_way.add(limit)
        try:
            async with limit:
                if wait_seconds > 0:
                    await asyncio.sleep(wait_seconds)
                return await self.channel.send(message, window)
        except TooLate as late:
            return Refused(str(late), destination_down=True)
        except TimeoutError:
            return _cut_off(window, _STOPPED if self._is_stopping else _SILENT)
        except asyncio.CancelledError:
            if is_cancelled():
                raise
            return _cut_off(window, _CALLED_OFF)
        finally:
            self._under_way.discard(limit)

    def _learn(
        self, channel: str, standing: Standing, outcome: Outcome, window: SendWindow, begun: float
    ) -> None:
        pause = min(_asked_seconds(outcome), self.policy.retry_after_limit_seconds)
        ended = self.clock.monotonic_seconds()
        self.breakers.note(standing.destination, Send(outcome, begun, ended, pause))
        is_closed = self.breakers.closed(standing.destination)
        self.trust.note(standing, outcome, has_left=window.opened, is_closed=is_closed)
        # While Postgres is away no turn of the notices comes to it.
        metrics.BREAKERS_OPEN.labels(self.traits.name).set(len(self.breakers.standing(ended)))
        kind = type(outcome).__name__.lower()
        metrics.DELIVERIES.labels(channel, kind).inc()

    async def _record(self, claim: Claim, outcome: Outcome) -> None:
        verdict = decide(outcome, claim.attempt, self.policy, self.rng)
        before = await self.recorder.record(_settlement(claim, verdict))
        path = verdict.path if before is State.CLAIMED else verdict.late
        log.info(
            "delivery_moved" if before else "delivery_had_moved_on",
            delivery_id=claim.delivery_id,
            alert_id=claim.alert_id,
            attempt=claim.attempt,
            states=path,
            reason=verdict.reason,
            provider_id=verdict.provider_id,
        )
        if before is None:
            metrics.LATE_OUTCOMES.inc()
        else:
            self.announcer.moved(claim, before, path, verdict.reason, verdict.provider_id)

    def _measure(self, claim: Claim, message: Message, window: SendWindow, begun: float) -> None:
        channel = message.delivery.channel
        metrics.SEND_SECONDS.labels(channel).observe(self.clock.monotonic_seconds() - begun)
        if window.opened_at_ms is not None and claim.attempt == 1 and claim.at_once:
            waited_ms = window.opened_at_ms - message.delivery.alert.detected_at_ms
            metrics.FIRST_BYTE_SECONDS.labels(channel).observe(max(0, waited_ms) / 1000)


def _cut_off(window: SendWindow, reason: str) -> Outcome:
    """Return what a send came to that ended before its channel did; most is said in the window."""
    if window.decided is not None:
        return window.decided
    if window.opened:
        return Unknown(reason)
    return Refused(f"{reason}; nothing had been sent", destination_down=True)


def _asked_seconds(outcome: Outcome) -> float:
    """Return for how long the destination asked to be left alone."""
    if isinstance(outcome, Refused) and not outcome.own_pace:
        return outcome.retry_after_seconds or 0.0
    return 0.0


def _settlement(claim: Claim, verdict: Verdict) -> Settlement:
    return Settlement(
        delivery_id=claim.delivery_id,
        fence=claim.fence,
        outcome=verdict.path[0],
        after=verdict.path[-1],
        late_after=verdict.late[-1] if verdict.late else None,
        retry_in_seconds=verdict.retry_in_seconds,
        reason=verdict.reason,
        provider_id=verdict.provider_id,
    )
