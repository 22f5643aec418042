"""Metrics of the AMQP on-ramp alone, beside those of all on-ramps."""

from prometheus_client import Gauge

FLOWING = Gauge(
    "aldebaran_amqp_flowing",
    "1 while events can come from RabbitMQ into Kafka, 0 while one of the two is away or refuses.",
)
