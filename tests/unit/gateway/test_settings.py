"""What the gateway refuses at its start."""

import gzip

import pytest
from pydantic import ValidationError

from services.backbone.settings import complaint
from services.gateway.amqp.settings import AmqpSettings
from services.gateway.settings import MIB, GatewaySettings
from tests.unit.gateway.surroundings import MemoryWriter, gateway


def test_a_room_without_place_for_one_body_is_refused_by_name() -> None:
    with pytest.raises(ValidationError) as refused:
        GatewaySettings(inflight_limit_bytes=8 * MIB - 1)
    said = complaint(refused.value)
    assert said.startswith("ALDEBARAN_INFLIGHT_LIMIT_BYTES: ")
    assert "at least 8388608, twice ALDEBARAN_BODY_LIMIT_BYTES" in said


def test_a_room_for_messages_may_be_smaller() -> None:
    assert AmqpSettings(inflight_limit_bytes=MIB).body_limit_bytes > MIB


@pytest.mark.parametrize("packed", [False, True])
async def test_the_smallest_room_has_place_for_the_largest_body(packed: bool) -> None:
    small = GatewaySettings(api_keys="off", inflight_limit_bytes=MIB, body_limit_bytes=MIB // 2)
    body = b"[" + b" " * (MIB // 2 - 1000) + b"]"
    sent = gzip.compress(body, compresslevel=0) if packed else body
    more = {"content_encoding": "gzip"} if packed else {}
    with gateway(MemoryWriter(), small) as it:
        answer = await it.post(sent, **more)
    assert (answer.status_code, answer.json()["title"]) == (422, "empty")
