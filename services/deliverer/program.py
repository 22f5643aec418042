"""Runs one deliverer, and takes it apart when told to stop."""

import asyncio
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass

from services.backbone.errors import Ended
from services.backbone.ledger.schema import migrate
from services.backbone.log import logger
from services.backbone.memory import forget_loaded
from services.backbone.outage import until_there
from services.backbone.reading import Reading
from services.backbone.service import Life
from services.deliverer import metrics
from services.deliverer.assembly import Parts, assemble
from services.deliverer.channel import OpenChannel
from services.deliverer.inbox import Inbox
from services.deliverer.settings import DelivererSettings
from services.deliverer.threads import on_daemon_thread

log = logger(__name__)

STUCK_SECONDS = 60.0
"""A loop that has not turned for so long, and its own wait, is stuck; a restart may heal that."""
LOOK_SECONDS = 1.0
"""How often we look whether something outside can only be reached by a new process."""


@dataclass
class Deliverer:
    """One deliverer at work."""

    settings: DelivererSettings
    life: Life
    parts: Parts
    reading: Reading
    ended: Exception | None = None
    """Why a new process must go on in our place, or None."""

    async def run(self, group: asyncio.TaskGroup) -> None:
        """Work until the life's stop, then drain.

        Raises:
            Ended: the producer or the channel cannot be used any more; that began the stop.
            Exception: whatever has ended the inbox, likewise.
        """
        stop = asyncio.Event()
        self.report_health()
        # A counter that begins with its first failure would look to Prometheus as if none had come.
        metrics.FAILED.labels(self.settings.channel)
        await self.parts.pool.open()
        loop = asyncio.get_running_loop()
        parts = self.parts
        inbox = Inbox(
            self.settings, parts.dispatcher, parts.producer, self.life, loop, self.reading
        )
        background = [
            group.create_task(self.parts.dispatcher.run()),
            group.create_task(self.parts.sweeper.run(stop)),
            group.create_task(self._read(inbox)),
            group.create_task(self._end_when_unusable(stop)),
        ]
        if self.parts.reconciler is not None:
            background.append(group.create_task(self.parts.reconciler.run(stop)))
        recording = group.create_task(self.parts.recorder.run())
        await on_daemon_thread("stop", self.life.stop.wait)
        stop.set()
        await self._drain()
        _, late = await asyncio.wait(background, timeout=0.1 * self.settings.drain_timeout_seconds)
        for task in (*late, recording):
            task.cancel()
        if self.ended is not None:
            raise self.ended

    async def close(self) -> None:
        """Let go of everything outside."""
        seconds = 0.1 * self.settings.drain_timeout_seconds
        await self.parts.channel.close()
        await self.parts.pool.close(timeout=seconds)
        await asyncio.to_thread(self.parts.producer.close, seconds)

    def report_health(self) -> None:
        """Say what shows that we live, and that we can do work."""
        health = self.life.health
        health.add_live("dispatcher", lambda: self._stuck(self.parts.dispatcher.turned_at))
        health.add_live("sweeper", lambda: self._stuck(self.parts.sweeper.turned_at))
        health.add_live("producer", self.parts.producer.unusable)
        health.add_live("channel", self.parts.channel.unusable)
        health.add_ready("postgres", lambda: self.parts.sweeper.trouble)
        health.add_ready("reading", self.reading.trouble)

    async def _end_when_unusable(self, stop: asyncio.Event) -> None:
        """Begin the stop, so that what is under way is recorded before we end."""
        while not stop.is_set() and self.ended is None:
            why = self.parts.producer.unusable() or self.parts.channel.unusable()
            if why is not None:
                self._end(Ended(why))
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await stop.wait()

    async def _read(self, inbox: Inbox) -> None:
        """Read until the life's stop; what ends that before begins the stop."""
        try:
            await on_daemon_thread("inbox", inbox.run)
        except Exception as error:  # even a bug: what is under way is recorded first
            log.error("inbox_ended", reason=str(error))
            self._end(error)

    def _end(self, reason: Exception) -> None:
        self.ended = self.ended or reason
        self.life.stop.set()

    async def _drain(self) -> None:
        seconds = self.settings.drain_timeout_seconds
        log.info("draining", in_flight=len(self.parts.dispatcher.in_flight))
        left = await self.parts.dispatcher.drain(0.4 * seconds, 0.1 * seconds)
        log.info("drained", claims_left=left)

    def _stuck(self, turned_at: float) -> str | None:
        idle = self.life.clock.monotonic_seconds() - turned_at
        is_stuck = turned_at and idle > STUCK_SECONDS + self.settings.sweep_seconds
        return f"has not turned for {idle:.0f} s" if is_stuck else None


def serve(settings: DelivererSettings, open_channel: OpenChannel, life: Life) -> None:
    """Be one deliverer until the life's stop."""
    try:
        if until_there(lambda: migrate(settings), life):
            asyncio.run(_serve(settings, open_channel, life))
    except ExceptionGroup as group:
        raise group.exceptions[0] from group
    finally:
        life.stop.set()


async def _serve(settings: DelivererSettings, open_channel: OpenChannel, life: Life) -> None:
    async with AsyncExitStack() as at_end, asyncio.TaskGroup() as group:
        parts = assemble(settings, open_channel(life.clock), life.clock, group.create_task)
        deliverer = Deliverer(settings, life, parts, Reading(life.clock))
        at_end.push_async_callback(deliverer.close)
        forget_loaded()
        try:
            await deliverer.run(group)
        finally:
            life.stop.set()
