"""Judging gives way to others after so many events, and after so long."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import pytest

from services.backbone.clock import ManualClock
from services.contracts.events import EventReader, Invalid
from services.contracts.streams import load_streams
from services.gateway.intake import SLICE_EVENTS, SLICE_SECONDS, Intake
from services.gateway.split import Verdict
from tests.unit.gateway.surroundings import STREAM, MemoryWriter


@dataclass
class Slow:
    """Events of which each takes its time to judge."""

    clock: ManualClock
    events: int
    each_seconds: float
    judged: int = 0

    def __len__(self) -> int:
        return self.events

    def read(self, index: int, reader: EventReader) -> Verdict:
        self.clock.move(self.each_seconds)
        self.judged += 1
        return Invalid("too_large", str(index))

    def originals(self, indexes: Sequence[int]) -> list[bytes]:
        return [b"" for _ in indexes]


@pytest.mark.parametrize(
    ("events", "each_seconds", "at_once"),
    [
        (1000, 0, SLICE_EVENTS),
        (63, 1.2 * SLICE_SECONDS, 1),
        (63, 0.4 * SLICE_SECONDS, 3),
        (0, 1, 0),
    ],
)
async def test_others_have_their_turn(events: int, each_seconds: float, at_once: int) -> None:
    clock = ManualClock()
    parts = Slow(clock, events, each_seconds)
    intake = Intake(load_streams()[STREAM], MemoryWriter(), clock)
    judging = asyncio.create_task(intake.judge(parts))
    turns = [0]
    while not judging.done():
        await asyncio.sleep(0)
        turns.append(parts.judged)
    assert max(now - before for before, now in pairwise(turns)) == at_once
    told = [each.detail for each in judging.result() if isinstance(each, Invalid)]
    assert told == [str(index) for index in range(events)]
