"""What a gateway measures and logs of what its brokers do not take."""

import orjson
from prometheus_client import REGISTRY

from services.backbone.errors import QueueFull
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
