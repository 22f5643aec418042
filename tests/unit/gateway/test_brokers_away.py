"""What a gateway measures and logs of what its brokers do not take."""

import orjson
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from services.backbone.errors import QueueFull
from services.backbone.seldom import EVERY_SECONDS
from tests.unit.gateway.surroundings import EVENT, MemoryWriter, gateway

TWO = orjson.dumps([EVENT, EVENT])


def acknowledged() -> float:
    """Return how many batches the brokers have taken, as measured."""
    return REGISTRY.get_sample_value("aldebaran_gateway_broker_ack_seconds_count") or 0.0


async def test_only_what_the_brokers_have_counts_for_how_quick_they_are() -> None:
    writer = MemoryWriter(troubles=[None, QueueFull("the queue is full")])
    before = acknowledged()
    with gateway(writer) as it:
        assert (await it.post(TWO)).status_code == 503
        assert acknowledged() == before
        assert (await it.post(TWO)).status_code == 200
        assert acknowledged() == before + 1


async def test_an_outage_fills_no_log_however_many_requests_come() -> None:
    writer = MemoryWriter()
    with gateway(writer) as it, capture_logs() as lines:
        for seconds in (0.0, 0.0, 0.0, EVERY_SECONDS):
            it.clock.move(seconds)
            writer.troubles = [QueueFull("the queue is full")]
            assert (await it.post(TWO)).status_code == 503
    told = [(each["event"], each["left_out"]) for each in lines if each["log_level"] != "debug"]
    kinds = ("not_written", "request_not_all_accepted")
    assert told == [(kind, left_out) for left_out in (0, 2) for kind in kinds]
