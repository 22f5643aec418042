"""A broker falls silent while Spark's driver asks it: the question goes to one that answers."""

from typing import Any, Final

import pytest
from pyspark.sql import SparkSession

from engine.java import jvm_of
from engine.options import kafka_client_options
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.settings import KafkaSettings
from services.contracts.topics import Topic
from tests.integration.auditor.running import wait_for
from tests.passage import Passage

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.timeout(180)]
TOPIC: Final = "silence"
LIMIT_SECONDS: Final = 40
"""Less than the minute that Java's client waits by itself."""


def test_a_question_to_a_silent_broker_is_asked_again(
    passage: Passage, spark: SparkSession
) -> None:
    """Each batch of a query begins and ends with this question, and the auditor waits for it."""
    bootstrap = f"127.0.0.1:{passage.port}"
    settings = KafkaSettings(kafka_bootstrap_servers=bootstrap)
    TopicAdmin(settings, "test").declare([Topic(TOPIC, partitions=1)])
    jvm = jvm_of(spark)
    properties = jvm.java.util.Properties()
    for name, value in kafka_client_options(bootstrap, {}).items():
        properties.setProperty(name, value)
    admin = jvm.org.apache.kafka.clients.admin.AdminClient.create(properties)
    assert answered(jvm, asked(jvm, admin)) == 0
    passage.armed = TOPIC.encode()
    question = asked(jvm, admin)
    wait_for("its answer is lost", lambda: bool(passage.swallowed))
    passage.armed = None
    assert answered(jvm, question) == 0
    admin.close(jvm.java.time.Duration.ofSeconds(1))


def asked(jvm: Any, admin: Any) -> Any:
    """Ask for the end of the topic's partition, as Spark's driver does; return what will answer."""
    place = jvm.org.apache.kafka.common.TopicPartition(TOPIC, 0)
    asked = jvm.java.util.HashMap()
    asked.put(place, jvm.org.apache.kafka.clients.admin.OffsetSpec.latest())
    return admin.listOffsets(asked).partitionResult(place)


def answered(jvm: Any, question: Any) -> int:
    """Wait for the answer: the offset of the next record."""
    return int(question.get(LIMIT_SECONDS, jvm.java.util.concurrent.TimeUnit.SECONDS).offset())
