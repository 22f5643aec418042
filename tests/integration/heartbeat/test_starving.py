"""A reader of what comes from now on that lives, polls, and fetches nothing, on a real broker."""

import uuid
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition

from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.producer import Outgoing, Producer
from services.backbone.service import Life
from services.contracts.topics import Topic
from services.heartbeat.__main__ import newest
from services.heartbeat.hearing import Hearing
from services.heartbeat.settings import HeartbeatSettings
from services.machine.waiting import wait_until

pytestmark = pytest.mark.kafka


@pytest.mark.parametrize("has_begun", [True, False])
def test_a_client_that_fetches_nothing_of_what_comes_is_replaced(
    kafka_bootstrap: str, tmp_path: Path, *, has_begun: bool
) -> None:
    """Also one that has read nothing yet, and so does not say how far it is."""
    topic, life = f"t-{uuid.uuid4().hex}", Life()
    settings = HeartbeatSettings(
        kafka_bootstrap_servers=kafka_bootstrap,
        instance=topic,
        streams_dir=tmp_path,
        watches_dir=tmp_path,
    )
    TopicAdmin(settings, "test").declare([Topic(topic)])
    producer, consumer = Producer(settings, "test"), newest(settings, topic, life).consumer
    hearing, heard, told = Hearing(consumer, life.clock, limit_seconds=1.0), set[bytes](), set()

    def hears(value: bytes) -> bool:
        producer.write([Outgoing(topic, "key", value)])
        heard.update(each.value for each in hearing.batch(100, 0.1))
        told.add(hearing.trouble() is None)
        return value in heard

    def is_given_its_partition() -> bool:
        hearing.batch(100, 0.1)
        return bool(consumer.assigned())

    if has_begun:
        wait_until(lambda: hears(b"first"), 60, "the first record")
    else:
        wait_until(is_given_its_partition, 60, "its partition")
    consumer._client.pause([TopicPartition(topic, 0)])  # noqa: SLF001 - no other way stops it
    wait_until(lambda: hears(b"second"), 60, "the second, by a new client")
    assert consumer.times_assigned() > 1
    assert told == {True, False}
    consumer.close()
    producer.close()
