"""Bodies that are many times their bytes once they are parsed are judged one at a time."""

import asyncio
import gc
import gzip
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest

from services.contracts.events import EVENT_LIMIT_BYTES
from services.gateway.ingest import FEW_EVENTS
from services.gateway.split import Elements
from tests.unit.gateway.surroundings import EVENT, MemoryWriter, gateway


@dataclass
class Looking(MemoryWriter):
    """Looks at each writing how many arrays are parsed."""

    parsed: list[int] = field(default_factory=list)

    def send(self, records: Any) -> Any:
        self.parsed.append(sum(type(each) is Elements for each in gc.get_objects()))
        return super().send(records)


async def test_large_bodies_are_parsed_one_at_a_time_and_small_ones_pass_them() -> None:
    writer = Looking()
    small = orjson.dumps(EVENT | {"order_id": "small"})
    with gateway(writer) as it:
        waiting = [it.post(orjson.dumps([EVENT] * 1000)) for _ in range(4)]
        packed = it.post(gzip.compress(small), content_encoding="gzip")
        answers = await asyncio.gather(*waiting, it.post(small), packed)
    assert {each.status_code for each in answers} == {200}
    assert max(writer.parsed) <= 1
    assert writer.accepted()[-1] != small
    assert writer.accepted().count(small) == 2


@pytest.mark.parametrize("tiny", [b"{}", b"1"])
async def test_small_bodies_of_many_tiny_events_are_judged_one_at_a_time(tiny: bytes) -> None:
    writer = Looking()
    body = crowd(tiny)
    assert len(body) < EVENT_LIMIT_BYTES
    with gateway(writer) as it:
        answers = await asyncio.gather(*(it.post(body) for _ in range(8)))
    assert {each.status_code for each in answers} == {422}
    assert len(writer.written) == 8 * 1000
    assert max(writer.parsed) <= 1


async def test_compressed_bodies_count_by_what_they_hold() -> None:
    writer = Looking()
    body = gzip.compress(crowd(b"1"))
    assert body.count(b",") + body.count(b"\n") < FEW_EVENTS
    with gateway(writer) as it:
        await asyncio.gather(*(it.post(body, content_encoding="gzip") for _ in range(8)))
    assert max(writer.parsed) <= 1


async def test_a_body_of_a_middle_size_does_not_wait_for_large_ones() -> None:
    writer = MemoryWriter()
    middle = orjson.dumps([EVENT | {"order_id": "middle"}] * 20)
    large = orjson.dumps([EVENT] * 1000)
    assert len(middle) < EVENT_LIMIT_BYTES < len(large)
    with gateway(writer) as it:
        await asyncio.gather(*(it.post(large) for _ in range(4)), it.post(middle))
    assert orjson.loads(writer.accepted()[-1])["order_id"] != "middle"


async def test_a_few_events_do_not_wait_for_crowds() -> None:
    writer = MemoryWriter()
    few = orjson.dumps([EVENT | {"order_id": "few"}] * 5)
    assert few.count(b",") < FEW_EVENTS
    with gateway(writer) as it:
        await asyncio.gather(*(it.post(crowd(b"{}")) for _ in range(8)), it.post(few))
    written = [b'"few"' in each.value for each in writer.written]
    assert sum(written) == 5
    assert not any(written[-1000:])


def crowd(tiny: bytes) -> bytes:
    return b"[" + b",".join([tiny] * 1000) + b"]"
