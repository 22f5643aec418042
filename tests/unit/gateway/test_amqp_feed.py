"""A feed acknowledges only what is written, and gives up only when told to stop."""

import asyncio
import gc
import random
from dataclasses import dataclass, field

import orjson
import pytest
from prometheus_client import REGISTRY

from services.backbone.backoff import Backoff
from services.backbone.clock import ManualClock
from services.backbone.errors import QueueFull, Transient
from services.backbone.service import Life
from services.contracts.streams import load_streams
from services.gateway.amqp.bindings import Binding
from services.gateway.amqp.feed import Feed
from services.gateway.amqp.settings import AmqpSettings
from services.gateway.amqp.waiting import WaitingRoom
from services.gateway.intake import Intake, Writer
from services.gateway.settings import MIB
from services.gateway.split import Elements
from tests.unit.gateway.surroundings import EVENT, STREAM, HeldWriter, MemoryWriter

GOOD = orjson.dumps(EVENT)
LOST = ConnectionError("lost")


@dataclass
class Delivered:
    body: bytes
    content_type: str | None = None
    content_encoding: str | None = None
    fails: bool = False
    error: Exception = LOST
    answers: list[str] = field(default_factory=list)

    async def ack(self) -> None:
        self.answers.append("ack")
        if self.fails:
            raise self.error

    async def reject(self, requeue: bool = False) -> None:
        self.answers.append(f"reject, requeue={requeue}")
        if self.fails:
            raise self.error


def feed(
    writer: Writer, room: WaitingRoom | None = None, judging: asyncio.Lock | None = None
) -> Feed:
    life = Life(clock=ManualClock())
    binding = Binding(exchange="e", queue="q", stream=STREAM)
    intake = Intake(load_streams()[STREAM], writer, life.clock)
    patience = Backoff(first_seconds=0.0001, limit_seconds=0.001)
    room = room or WaitingRoom(MIB)
    judging = judging or asyncio.Lock()
    return Feed(binding, intake, AmqpSettings(), room, judging, life, random.Random(1), patience)


async def test_good_and_bad_are_written_then_acknowledged() -> None:
    writer, message = MemoryWriter(), Delivered(GOOD + b"\n" + b'{"id": 7}')
    await feed(writer).take(message)
    assert message.answers == ["ack"]
    assert writer.accepted() == [GOOD]
    assert [each.original for each in writer.kept_aside()] == [b'{"id": 7}']


async def test_only_what_was_not_written_is_written_again() -> None:
    writer = MemoryWriter(troubles=[None, Transient("away"), QueueFull("full")])
    message = Delivered(b"[" + b",".join([GOOD] * 3) + b"]")
    taking = feed(writer)
    await taking.take(message)
    assert message.answers == ["ack"]
    assert len(writer.accepted()) == 3
    assert taking.trouble is None


async def test_told_to_stop_the_message_stays_with_its_server() -> None:
    taking, message = feed(MemoryWriter(troubles=[Transient("away")])), Delivered(GOOD)
    taking.life.stop.set()
    await taking.take(message)
    assert message.answers == []
    assert taking.trouble is None
    assert taking.bug is None


async def test_trouble_is_told_while_a_message_waits_and_not_once_its_channel_is_lost() -> None:
    writer = MemoryWriter(troubles=[Transient("away")] * 1000)
    taking = feed(writer)
    waiting = [asyncio.ensure_future(taking.take(Delivered(GOOD))) for _ in range(2)]
    async with asyncio.timeout(30):
        while taking.trouble is None:
            await asyncio.sleep(0)
    waiting[0].cancel()
    await asyncio.wait(waiting[:1])
    troubles = [taking.trouble]
    waiting[1].cancel()
    await asyncio.wait(waiting)
    assert [*troubles, taking.trouble] == ["away", None]


def oversized() -> float:
    labels = {"stream": STREAM, "reason": "oversized"}
    return REGISTRY.get_sample_value("aldebaran_gateway_rejected_total", labels) or 0.0


@pytest.mark.parametrize(("fails", "counted"), [(False, 1), (True, 0)])
async def test_an_oversized_message_goes_to_its_own_queue_and_is_counted_once_it_is_there(
    fails: bool, counted: int
) -> None:
    before, body = oversized(), bytes(AmqpSettings().body_limit_bytes + 1)
    writer, message = MemoryWriter(), Delivered(body, fails=fails)
    await feed(writer).take(message)
    assert message.answers == ["reject, requeue=False"]
    assert writer.written == []
    assert oversized() - before == counted


@pytest.mark.parametrize("error", [LOST, Exception()])
async def test_a_lost_acknowledgement_is_no_bug(error: Exception) -> None:
    taking = feed(MemoryWriter())
    await taking.take(Delivered(GOOD, fails=True, error=error))
    assert taking.bug is None


async def test_a_bug_is_kept_for_the_program_to_end_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taking = feed(MemoryWriter())
    monkeypatch.setattr("services.gateway.amqp.feed.read_message", lambda *_, **__: 1 / 0)
    await taking.take(Delivered(GOOD))
    assert isinstance(taking.bug, ZeroDivisionError)
    assert taking.working == 0


HALF = orjson.dumps([EVENT | {"note": "x" * 50_000}] * 12)
"""More than half of a mebibyte."""


async def test_of_a_queue_only_so_much_is_judged_before_kafka_takes_it() -> None:
    writer = HeldWriter()
    one = feed(writer, WaitingRoom(MIB))
    messages = [Delivered(HALF) for _ in range(4)]
    taking = [asyncio.ensure_future(one.take(message)) for message in messages]
    for turn in range(1, 5):
        await writer.holds(turn)
        for _ in range(100):
            await asyncio.sleep(0)
        assert len(writer.open) == turn
        assert not [each for each in gc.get_objects() if type(each) is Elements]
        count, waiting = writer.open[-1]
        waiting.set_result([None] * count)
    await asyncio.gather(*taking)
    assert [each.answers for each in messages] == [["ack"]] * 4


async def test_a_message_larger_than_the_room_is_taken_alone() -> None:
    writer, message = MemoryWriter(), Delivered(GOOD)
    await feed(writer, WaitingRoom(1)).take(message)
    assert message.answers == ["ack"]


async def test_a_stream_that_cannot_be_written_stops_no_other() -> None:
    judging = asyncio.Lock()
    holds = HeldWriter()
    bad = feed(holds, WaitingRoom(MIB), judging)
    good = feed(MemoryWriter(), WaitingRoom(MIB), judging)
    stuck = [asyncio.ensure_future(bad.take(Delivered(HALF))) for _ in range(3)]
    await holds.holds(1)
    message = Delivered(GOOD)
    async with asyncio.timeout(60):
        await good.take(message)
    assert message.answers == ["ack"]
    for each in stuck:
        each.cancel()
    await asyncio.gather(*stuck, return_exceptions=True)
