"""The bus and the RabbitMQ that other parts' tests use."""

from tests.integration.conftest import rabbitmq
from tests.integration.deliverer.conftest import bus

__all__ = ["bus", "rabbitmq"]
