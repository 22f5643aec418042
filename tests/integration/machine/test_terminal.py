"""What shows alerts beside `make run`, as a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException, TopicPartition

from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.producer import Outgoing, Producer, ProducerSettings
from services.contracts.topics import ALERTS, core_topics
from services.machine.terminal.__main__ import GROUP
from services.machine.waiting import wait_until

pytestmark = pytest.mark.kafka
ROOT = Path(__file__).parents[3]


def test_what_nobody_reads_is_passed_over(kafka_bootstrap: str) -> None:
    settings = ProducerSettings(kafka_bootstrap_servers=kafka_bootstrap)
    TopicAdmin(settings, "test").declare(core_topics([]))
    producer = Producer(settings, "test")
    producer.write([Outgoing(ALERTS, "one", b"no alert, which is a line too")])
    producer.close()
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "services.machine.terminal"]
    told = {**os.environ, "ALDEBARAN_KAFKA_BOOTSTRAP_SERVERS": kafka_bootstrap}
    with subprocess.Popen(command, cwd=ROOT, env=told, stdout=writer) as process:
        os.close(writer)
        try:
            wait_until(lambda: passed_over(kafka_bootstrap), 60, "nothing is passed over")
            process.terminate()
            assert process.wait(20) == 0
        finally:
            process.kill()


def passed_over(bootstrap: str) -> bool:
    client = Consumer({"bootstrap.servers": bootstrap, "group.id": GROUP})
    try:
        (place,) = client.committed([TopicPartition(ALERTS, 0)], timeout=10)
    except KafkaException:  # a broker that has just begun knows of no group yet
        return False
    finally:
        client.close()
    return bool(place.offset > 0)
