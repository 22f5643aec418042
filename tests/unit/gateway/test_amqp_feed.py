"""A feed acknowledges only what is written, and gives up only when told to stop."""

import random
from dataclasses import dataclass, field

import orjson
import pytest

from services.backbone.backoff import Backoff
from services.backbone.clock import ManualClock
from services.backbone.errors import QueueFull, Transient
from services.backbone.service import Life
from services.contracts.streams import load_streams
from services.gateway.amqp.bindings import Binding
from services.gateway.amqp.feed import Feed
from services.gateway.amqp.settings import AmqpSettings
from services.gateway.intake import Intake, Writer
from tests.unit.gateway.surroundings import EVENT, STREAM, MemoryWriter

GOOD = orjson.dumps(EVENT)


@dataclass
class Delivered:
    body: bytes
    content_type: str | None = None
    content_encoding: str | None = None
    fails: bool = False
    answers: list[str] = field(default_factory=list)

    async def ack(self) -> None:
        self.answers.append("ack")
        if self.fails:
            raise ConnectionError("lost")

    async def reject(self, requeue: bool = False) -> None:
        self.answers.append(f"reject, requeue={requeue}")


def feed(writer: Writer) -> Feed:
    life = Life(clock=ManualClock())
    binding = Binding(exchange="e", queue="q", stream=STREAM)
    intake = Intake(load_streams()[STREAM], writer, life.clock)
    patience = Backoff(first_seconds=0.0001, limit_seconds=0.001)
    return Feed(binding, intake, AmqpSettings(), life, random.Random(1), patience)


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
    assert taking.trouble == "away"
    assert taking.bug is None


async def test_an_oversized_message_goes_to_its_own_queue() -> None:
    writer, message = MemoryWriter(), Delivered(bytes(AmqpSettings().body_limit_bytes + 1))
    await feed(writer).take(message)
    assert message.answers == ["reject, requeue=False"]
    assert writer.written == []


async def test_a_lost_acknowledgement_is_no_bug() -> None:
    taking = feed(MemoryWriter())
    await taking.take(Delivered(GOOD, fails=True))
    assert taking.bug is None


async def test_a_bug_is_kept_for_the_program_to_end_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taking = feed(MemoryWriter())
    monkeypatch.setattr("services.gateway.amqp.feed.read_message", lambda *_, **__: 1 / 0)
    await taking.take(Delivered(GOOD))
    assert isinstance(taking.bug, ZeroDivisionError)
    assert taking.working == 0
