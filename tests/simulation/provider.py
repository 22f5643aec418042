"""A provider that takes messages as planned, and the channel that reaches it."""

import asyncio
from dataclasses import dataclass, field
from typing import Final

from services.backbone.ledger.deliveries.evidence import Evidence, EvidenceKind
from services.contracts.records import Severity
from services.deliverer.channel import (
    Absent,
    Doubt,
    Finding,
    Message,
    Promise,
    SendWindow,
    Taken,
    Traits,
    Unclear,
)
from services.deliverer.outcomes import Accepted, Outcome, Permanent, Refused, Unknown
from tests.simulation.judge import Judge
from tests.simulation.kernel import Kernel, Process
from tests.simulation.memory.evidence import MemoryEvidence
from tests.simulation.plan import Fault, Kind, Plan
from tests.simulation.process_loop import ProcessLoop
from tests.simulation.store import Store
from tests.simulation.weather import Weather

SEND_TIMEOUT_SECONDS: Final = 2.0
FOREVER_SECONDS: Final = 1000.0
CALL_AGAIN_SECONDS: Final = 1.0
_PROMISE: Final = Promise(*("simulated",) * 10)


def traits_of(plan: Plan) -> Traits:
    """Return what the simulated channel declares in this history."""
    return Traits(
        name="webhook",
        promise=_PROMISE,
        dedupes_by_key=plan.dedupes,
        repeats=frozenset({Severity.CRITICAL}) if plan.repeats else frozenset(),
        breaker_per_recipient=plan.per_recipient,
        send_timeout_seconds=SEND_TIMEOUT_SECONDS,
        look_up_after_seconds=(0.5, 3.0) if plan.witness else (),
    )


def provider_id(delivery_id: str, attempt: int) -> str:
    """Return the provider's own name for a message."""
    return f"p-{delivery_id[:6]}-{attempt}"


@dataclass
class Provider:
    """The receiving side of all senders."""

    kernel: Kernel
    judge: Judge
    weather: Weather
    store: Store
    away_until: float = -1.0
    has: set[tuple[str, int]] = field(default_factory=set)
    """Tries that were taken: delivery id and attempt."""
    under_way: set[tuple[str, int]] = field(default_factory=set)

    @property
    def is_away(self) -> bool:
        """Whether no connection can be made."""
        return self.kernel.now < self.away_until

    def take(self, message: Message) -> Accepted:
        """Take a message; the answer may still get lost."""
        self.judge.taken(message)
        key = message.delivery.delivery_id, message.attempt
        self.has.add(key)
        self.under_way.discard(key)
        self._call_back(message)
        return Accepted(provider_id(message.delivery.delivery_id, message.attempt))

    def take_later(self, message: Message, seconds: float) -> None:
        """Take a message whose bytes are still on their way."""
        self.under_way.add((message.delivery.delivery_id, message.attempt))
        self.kernel.after(seconds, lambda: self.take(message))

    def finding(self, doubt: Doubt) -> Finding:
        """Say what became of a try, as a list of messages would show it."""
        key = doubt.delivery.delivery_id, doubt.attempt
        if key in self.has:
            return Taken(provider_id(*key))
        # What a look-up cannot see is never called absent.
        return Unclear("on its way") if key in self.under_way else Absent("not in the list")

    def call_back(self, piece: Evidence) -> None:
        """Tell our door for callbacks; it is told again until it has kept it."""
        if self.store.is_away:
            self.kernel.after(CALL_AGAIN_SECONDS, lambda: self.call_back(piece))
            return
        self.kernel.tell("provider", f"calls back: {piece.delivery_id[:6]} {piece.kind}")
        MemoryEvidence(self.store.tables).give([piece])
        self.store.synced()

    def _call_back(self, message: Message) -> None:
        """Report what became of the message at its recipient, now, later, or twice."""
        key = message.delivery.delivery_id
        fault = self.weather.fault("provider", "callback")
        if fault is None:
            return
        undelivered = fault.kind is Kind.UNDELIVERED
        kind = EvidenceKind.UNDELIVERED if undelivered else EvidenceKind.CONFIRMED
        name = provider_id(key, message.attempt)
        piece = Evidence(key, kind, "callback", name, attempt=message.attempt % 2 * message.attempt)
        if undelivered:
            self.judge.refused_for_good.add(key)
        else:
            self.judge.confirmed.add(key)
        times = {Kind.CONFIRM_TWICE: (0.0, fault.seconds)}.get(fault.kind, (fault.seconds,))
        for seconds in (0.0,) if fault.kind is Kind.CONFIRM_AT_ONCE else times:
            self.kernel.after(seconds, lambda: self.call_back(piece))


@dataclass(frozen=True)
class ProviderChannel:
    """One process's channel to the provider.

    Between `window.open()` and the bytes' leaving nothing can happen here: the one window that
    docs/delivery.md names as remaining is not simulated.
    """

    kernel: Kernel
    process: Process
    loop: ProcessLoop
    owner: str
    provider: Provider
    weather: Weather
    traits: Traits

    async def send(self, message: Message, window: SendWindow) -> Outcome:
        """Send as the plan says; without a fault the provider takes it and answers."""
        fault = self.weather.fault("provider", "send")
        kind = fault.kind if fault else None
        if fault is not None:
            self.kernel.tell(self.process.slot, f"send {message.delivery.delivery_id[:6]}: {kind}")
        await asyncio.sleep(self.weather.back())
        if self.provider.is_away or kind is Kind.DOWN:
            return Refused("no connection", destination_down=True)
        if fault is not None and kind is Kind.PAUSE_OPEN and not self.loop.freeze(fault.seconds):
            return await self._die()
        window.open()
        self.provider.judge.writing(self.owner, message)
        if fault is None:
            answer = self.provider.take(message)
            await asyncio.sleep(self.weather.back())
            return answer
        return await self._faulty(fault, message)

    async def look_up(self, doubt: Doubt) -> Finding:
        """Ask the provider, who may answer late, not at all, or not know."""
        fault = self.weather.fault("provider", "look_up")
        if self.provider.is_away or (fault is not None and fault.kind is Kind.WITNESS_UNCLEAR):
            return Unclear("not now")
        late = fault is not None and fault.kind is Kind.WITNESS_LATE
        await asyncio.sleep(FOREVER_SECONDS if late else self.weather.back())
        finding = self.provider.finding(doubt)
        self.kernel.tell("provider", f"{doubt.delivery.delivery_id[:6]}: {type(finding).__name__}")
        return finding

    def unusable(self) -> str | None:
        """Return None: it always works."""
        return None

    async def close(self) -> None:
        """Do nothing."""

    async def _faulty(self, fault: Fault, message: Message) -> Outcome:
        match fault.kind:
            case Kind.REFUSED:
                return Refused("busy")
            case Kind.BUSY:
                return Refused("busy", retry_after_seconds=fault.seconds)
            case Kind.PERMANENT:
                self.provider.judge.refused_for_good.add(message.delivery.delivery_id)
                return Permanent("no such recipient")
            case Kind.CRASH_OPEN:
                return await self._die()
            case Kind.SILENT | Kind.LATE_TAKE:
                return await self._slow(fault, message)
            case _:
                return await self._taken(fault, self.provider.take(message))

    async def _slow(self, fault: Fault, message: Message) -> Outcome:
        if fault.kind is Kind.LATE_TAKE:
            self.provider.take_later(message, fault.seconds)
        await asyncio.sleep(fault.seconds + 0.001)
        late = fault.kind is Kind.LATE_TAKE
        return Accepted("late") if late else Unknown("the connection was lost")

    async def _taken(self, fault: Fault, answer: Accepted) -> Outcome:
        match fault.kind:
            case Kind.DROPPED:
                return Unknown("the connection was lost")
            case Kind.CRASH_TAKEN:
                return await self._die()
            case Kind.PAUSE_TAKEN:
                self.kernel.stop(self.process, fault.seconds)
            case Kind.LATE_ANSWER:
                await asyncio.sleep(fault.seconds)
        await asyncio.sleep(self.weather.back())
        return answer

    async def _die(self) -> Outcome:
        self.kernel.kill(self.process)
        await asyncio.sleep(FOREVER_SECONDS)
        raise AssertionError("a dead process went on")
