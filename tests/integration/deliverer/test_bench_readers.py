"""The bench's readers at real brokers: what our channels write there is noted once, by its id."""

import asyncio
import time
from pathlib import Path

import pytest

from services.backbone.clock import SystemClock
from services.backbone.kafka.producer import Outgoing
from services.contracts.records import Delivery
from services.contracts.topics import NOTIFICATIONS
from services.deliverer.channel import Message, SendWindow
from services.deliverer.channels.rabbitmq import RabbitmqChannel
from services.deliverer.channels.rabbitmq.links import RabbitmqSettings
from services.deliverer.outcomes import Accepted
from tests.bench.delivering.receivers import Seen, Site
from tests.bench.delivering.receivers.readers import QUEUE, taking_messages, taking_records
from tests.integration.deliverer.conftest import Bus
from tests.integration.rabbitmq import RabbitMq
from tests.unit.deliverer.builders import delivery


async def noted(seen: Seen, sent: list[Delivery]) -> list[list[int]]:
    """Wait until all were seen, and return when."""
    while not {each.delivery_id for each in sent} <= seen.keys():
        await asyncio.sleep(0.01)
    return [seen[each.delivery_id] for each in sent]


@pytest.mark.rabbitmq
async def test_messages_of_a_queue_are_noted_once_each(rabbitmq: RabbitMq, tmp_path: Path) -> None:
    sent = [delivery(number, "rabbitmq", QUEUE) for number in range(20)]
    settings = RabbitmqSettings.model_validate({"rabbitmq_url": rabbitmq.url})
    channel, clock, seen = RabbitmqChannel(settings), SystemClock(), Seen()
    async with taking_messages(Site(rabbitmq.port, tmp_path, "127.0.0.1:1"), seen):
        begun = time.monotonic_ns()
        window = SendWindow(clock, clock.monotonic_seconds() + 60)
        outcomes = [await channel.send(Message(each, attempt=1), window) for each in sent]
        times = await noted(seen, sent)
    await channel.close()
    assert outcomes == [Accepted()] * len(sent)
    assert all(begun < first < time.monotonic_ns() for (first,) in times)
    assert times == sorted(times)


@pytest.mark.kafka
async def test_records_of_the_bus_are_noted_once_each(bus: Bus, tmp_path: Path) -> None:
    sent = [delivery(number, "bus", "bench") for number in range(20)]
    records = [Outgoing(NOTIFICATIONS, each.delivery_id, each.encode()) for each in sent]
    seen = Seen()
    site = Site(0, tmp_path, bus.settings.kafka_bootstrap_servers)
    async with taking_records(site, seen):
        begun = time.monotonic_ns()
        await asyncio.to_thread(bus.producer.write, records)
        times = await noted(seen, sent)
    assert all(begun < first < time.monotonic_ns() for (first,) in times)
