"""A consumer of Java's beside Spark's own: a member of no group, that notes nothing."""

from collections.abc import Mapping
from typing import Any, Final

from pyspark.sql import SparkSession

from engine.brokers import TIMEOUT_MS
from engine.java import jvm_of

_BYTES: Final = "org.apache.kafka.common.serialization.ByteArrayDeserializer"


def open_consumer(
    spark: SparkSession, client_options: Mapping[str, str], more: Mapping[str, str]
) -> Any:
    """Return a consumer with these options, of which `more` has the last word; the caller closes.

    Raises:
        Py4JError: it cannot be made of them, or Java is gone.
    """
    jvm = jvm_of(spark)
    ours = {
        "key.deserializer": _BYTES,
        "value.deserializer": _BYTES,
        "enable.auto.commit": "false",
        "allow.auto.create.topics": "false",
        "default.api.timeout.ms": str(TIMEOUT_MS),
    }
    properties = jvm.java.util.Properties()
    for name, value in {**client_options, **ours, **more}.items():
        properties.setProperty(name, value)
    return jvm.org.apache.kafka.clients.consumer.KafkaConsumer(properties)
