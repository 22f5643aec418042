"""A provider that takes messages as planned, and the channel that reaches it."""

import asyncio
from dataclasses import dataclass
from typing import Final

from services.contracts.records import Severity
from services.deliverer.channel import Message, Promise, SendWindow, Traits
from services.deliverer.outcomes import Accepted, Outcome, Permanent, Refused, Unknown
from tests.simulation.judge import Judge
from tests.simulation.kernel import Kernel, Process
from tests.simulation.plan import Fault, Kind, Plan
from tests.simulation.process_loop import ProcessLoop
from tests.simulation.weather import Weather

SEND_TIMEOUT_SECONDS: Final = 2.0
FOREVER_SECONDS: Final = 1000.0
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
    )


@dataclass
class Provider:
    """The receiving side of all senders."""

    kernel: Kernel
    judge: Judge
    weather: Weather
    away_until: float = -1.0

    @property
    def is_away(self) -> bool:
        """Whether no connection can be made."""
        return self.kernel.now < self.away_until

    def take(self, message: Message) -> Accepted:
        """Take a message; the answer may still get lost."""
        self.judge.taken(message)
        return Accepted(f"p-{message.delivery.delivery_id[:6]}-{message.attempt}")


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
            self.kernel.after(fault.seconds, lambda: self.provider.take(message))
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
