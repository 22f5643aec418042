"""One channel and its far end: sends single messages and counts what was taken."""

import asyncio
import itertools
from dataclasses import dataclass

from services.backbone.clock import Clock
from services.contracts.records import Severity
from services.deliverer.channel import Channel, Doubt, Message, SendWindow
from services.deliverer.outcomes import Outcome
from tests.integration.deliverer.waiting import until
from tests.matrix.peer import Peer, Refusal
from tests.unit.deliverer.builders import delivery

WINDOW_SECONDS = 60.0
CALM = {
    "refuse_share": 0,
    "accept_then_drop_share": 0,
    "delay_seconds": 0,
    "strange_answers": None,
    "retry_after_seconds": None,
}
_NUMBERS = itertools.count(1)


@dataclass
class Sender:
    """Sends by one channel, without a deliverer around it."""

    channel: Channel
    peer: Peer
    clock: Clock

    def message(self) -> Message:
        """Return a message like no other."""
        name, recipient = self.peer.channel, self.peer.recipient
        return Message(delivery(next(_NUMBERS), name, recipient, Severity.CRITICAL), attempt=1)

    def window(self) -> SendWindow:
        """Return a window with much time."""
        return SendWindow(self.clock, self.clock.monotonic_seconds() + WINDOW_SECONDS)

    async def send(self, message: Message, window: SendWindow | None = None) -> Outcome:
        """Send once."""
        async with asyncio.timeout(WINDOW_SECONDS):
            return await self.channel.send(message, window or self.window())

    async def marks(self, message: Message) -> tuple[bool, ...]:
        """Return for each time that the far end has the message whether it is marked."""
        taken = await asyncio.to_thread(self.peer.taken, [message.delivery])
        return taken.of(message.delivery.delivery_id)

    async def has(self, message: Message, times: int = 1) -> None:
        """Wait until the far end has the message so often, and see that it is not more often."""

        def enough() -> bool:
            marks = self.peer.taken([message.delivery]).of(message.delivery.delivery_id)
            return len(marks) >= times

        await asyncio.to_thread(until, enough, f"taken {times} times")
        assert len(await self.marks(message)) == times

    def refuse(self, kind: Refusal, **more: object) -> None:
        """Let the far end refuse everything, in its own words."""
        assert self.peer.dial(refuse_share=1, **{**self.peer.refusals[kind], **more})

    def calm(self) -> None:
        """Take every fault back."""
        words = {key for each in self.peer.refusals.values() for key in each}
        self.peer.dial(**CALM, **dict.fromkeys(words - {"refuse_status"}))

    def doubt(self, message: Message) -> Doubt:
        """Return the doubt about a try whose lease is over."""
        now_ms = self.clock.now_ms()
        return Doubt(message.delivery, message.attempt, now_ms - 60_000, now_ms - 1)
