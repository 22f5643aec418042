"""A member of a group that lives, polls, and fetches nothing, on a real broker."""

import uuid
from collections.abc import Callable

import pytest

from services.backbone.clock import SystemClock
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.consumer import Consumer
from services.backbone.kafka.producer import Outgoing, Producer, ProducerSettings
from services.backbone.reading import Reading
from services.contracts.topics import Topic
from services.machine.waiting import wait_until

pytestmark = pytest.mark.kafka


def test_a_client_that_fetches_nothing_of_what_is_there_is_replaced(
    kafka_bootstrap: str,
) -> None:
    """As one does whose question for its offsets met a coordinator that had moved."""
    settings = ProducerSettings(kafka_bootstrap_servers=kafka_bootstrap)
    topic, producer = f"t-{uuid.uuid4().hex}", Producer(settings, "test")
    TopicAdmin(settings, "test").declare([Topic(topic)])
    consumer = Consumer(settings, "test", group=uuid.uuid4().hex, topics=[topic])
    reading, found = Reading(SystemClock(), limit_seconds=1.0), list[bytes]()

    def take() -> None:
        reading.turn(consumer)
        batch = consumer.batch(10, 0.1)
        found.extend(each.value for each in batch)
        consumer.commit(batch)

    def taken(*values: bytes) -> Callable[[], bool]:
        def is_taken() -> bool:
            take()
            return found == list(values)

        return is_taken

    producer.write([Outgoing(topic, "k", b"first")])
    wait_until(taken(b"first"), 60, "the first record")
    consumer._client.pause(consumer._client.assignment())  # noqa: SLF001 - no other way stops it
    producer.write([Outgoing(topic, "k", b"second")])
    wait_until(taken(b"first", b"second"), 60, "the second, by a new client")
    assert consumer.times_assigned() > 1
    consumer.close()
    producer.close()
