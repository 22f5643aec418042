"""How long a first byte took is measured of what was to go at once, and of nothing else."""

import asyncio
import random
from dataclasses import replace
from pathlib import Path

import pytest
from prometheus_client import REGISTRY

from services.backbone.clock import ManualClock
from services.deliverer.assembly import assemble
from services.deliverer.channel import SendWindow
from services.deliverer.channels.log import LogChannel, LogSettings
from services.deliverer.settings import DelivererSettings
from tests.unit.deliverer.builders import FOUND_AT_MS, claims_of, delivery
from tests.unit.deliverer.test_decided import Kept
from tests.unit.deliverer.test_dispatcher import Silent

WAITED_SECONDS = 900.0


def first_bytes() -> tuple[float, float]:
    """Return how many were measured, and their seconds together."""
    names = ("count", "sum")
    metric, labels = "aldebaran_deliverer_first_byte_seconds", {"channel": "log"}
    count, seconds = (REGISTRY.get_sample_value(f"{metric}_{each}", labels) for each in names)
    return count or 0.0, seconds or 0.0


@pytest.mark.parametrize(
    ("at_once", "attempt", "measured"), [(True, 1, 1), (False, 1, 0), (True, 2, 0)]
)
async def test_what_waited_on_purpose_makes_nothing_look_slow(
    tmp_path: Path, at_once: bool, attempt: int, measured: int
) -> None:
    clock = ManualClock(FOUND_AT_MS)
    channel = LogChannel(LogSettings(log_channel_file=tmp_path / "sent"), clock)
    parts = assemble(
        DelivererSettings(channel="log"), channel, clock, asyncio.get_running_loop().create_task
    )
    sender = parts.dispatcher.sender
    sender.recorder = Kept(parts.recorder.claims, clock, random.Random(1))
    sender.announcer = Silent()
    (claim,) = claims_of([delivery(1, "log", "somebody")], 1)
    clock.move(WAITED_SECONDS)
    before = first_bytes()
    await sender.deliver(
        replace(claim, at_once=at_once, attempt=attempt),
        parts.dispatcher.places.take(channel.traits.destination("somebody")),
        SendWindow(clock, clock.monotonic_seconds() + 20.0),
    )
    await channel.close()
    parts.producer.close(0.0)
    after = first_bytes()
    assert after == (before[0] + measured, before[1] + measured * WAITED_SECONDS)
