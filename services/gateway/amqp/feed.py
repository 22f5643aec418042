"""One binding at work: each message is settled in Kafka, then acknowledged."""

import asyncio
import random
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Final, Protocol

from aio_pika.exceptions import CONNECTION_EXCEPTIONS

from services.backbone.amqp.loss import told_as_lost
from services.backbone.backoff import Backoff
from services.backbone.errors import Trouble
from services.backbone.kafka.producer import Outgoing
from services.backbone.log import logger
from services.backbone.service import Life
from services.gateway import metrics
from services.gateway.amqp.bindings import Binding
from services.gateway.amqp.reading import read_message
from services.gateway.amqp.settings import AmqpSettings
from services.gateway.amqp.waiting import WaitingRoom
from services.gateway.intake import Intake, Taken
from services.gateway.split import Parts, Verdict

log = logger(__name__)

OVERSIZED: Final = "oversized"
"""The reason of a message that is too large to be kept aside in Kafka."""


class Message(Protocol):
    """What a feed needs of a message of aio-pika."""

    body: bytes
    content_type: str | None
    content_encoding: str | None

    async def ack(self) -> None:
        """Tell RabbitMQ that the message is settled."""

    async def reject(self, requeue: bool = False) -> None:
        """Hand the message back; not requeued, it goes to the queue for oversized ones."""


@dataclass
class Feed:
    """Takes the messages of one queue to one stream."""

    binding: Binding
    intake: Intake
    settings: AmqpSettings
    room: WaitingRoom
    judging: asyncio.Lock
    """Shared by all feeds: a message of many tiny events is 300 times its bytes when judged."""
    life: Life
    rng: random.Random
    backoff: Backoff = field(default_factory=lambda: Backoff(limit_seconds=5.0))
    trouble: str | None = None
    """What is wrong with writing now; nothing while no message is in work."""
    working: int = 0
    bug: Exception | None = None

    async def take(self, message: Message) -> None:
        """Settle one message; unless that worked it stays with RabbitMQ, which sends it again."""
        self.working += 1
        try:
            await self._settle(message)
        except Exception as error:
            log.exception("bug")
            self.bug = error
        finally:
            self.working -= 1
            if not self.working:  # What was given up waits with RabbitMQ, and in nobody's way.
                self.trouble = None

    async def _settle(self, message: Message) -> None:
        if len(message.body) > self.settings.body_limit_bytes:
            log.error("oversized", queue=self.binding.oversized_queue, bytes=len(message.body))
            if await _tell(message.reject(requeue=False)):
                metrics.REJECTED.labels(self.intake.stream.stream, OVERSIZED).inc()
        elif await self._keep(message):
            await _tell(message.ack())

    def _read(self, message: Message) -> Parts:
        metrics.BODY_BYTES.inc(len(message.body))
        return read_message(
            message.body,
            message.content_type,
            message.content_encoding,
            limit_bytes=self.settings.body_limit_bytes,
            limit_events=self.settings.batch_limit_events,
        )

    async def _keep(self, message: Message) -> bool:
        """Write until Kafka has everything; return False if told to stop before."""
        async with self.room.turn:
            async with self.judging:
                verdicts, records = await self._judge(message)
            held_bytes = sum(len(each.value) for each in records)
            await self.room.hold(held_bytes)
        try:
            kept = await self._write(records)
        finally:
            self.room.free(held_bytes)
        if kept:
            self.intake.count(Taken(verdicts, [None] * len(verdicts)))
        return kept

    async def _judge(self, message: Message) -> tuple[list[Verdict], list[Outgoing]]:
        parts = self._read(message)
        verdicts = await self.intake.judge(parts)
        records = await self.intake.prepare(parts, verdicts, f"amqp {self.binding.exchange}")
        return verdicts, records

    async def _write(self, left: list[Outgoing]) -> bool:
        attempt = 0
        while left:
            outcomes = await self.intake.write(left)
            left = [each for each, outcome in zip(left, outcomes, strict=True) if outcome]
            self.trouble = _first(outcomes)
            if left:
                attempt += 1
                log.warning("try_again", attempt=attempt, events=len(left), reason=self.trouble)
                if self.life.stop.is_set():
                    return False
                await asyncio.sleep(self.backoff.seconds(attempt, self.rng))
        return True


async def _tell(answer: Awaitable[None]) -> bool:
    """Return whether it went through; otherwise the message comes again."""
    try:
        with told_as_lost():
            await answer
    except CONNECTION_EXCEPTIONS as error:
        log.info("not_acknowledged", then="the message comes again", reason=str(error))
        return False
    return True


def _first(outcomes: list[Trouble | None]) -> str | None:
    return next((str(outcome) for outcome in outcomes if outcome), None)
