"""Real servers that more than one part's tests share."""

from collections.abc import Iterator

import pytest

from tests.integration.rabbitmq import RABBITMQ_SERVER, RabbitMq


@pytest.fixture(scope="session")
def rabbitmq(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RabbitMq]:
    """A RabbitMQ that can be stopped and started again; use queues with names of your own."""
    if not RABBITMQ_SERVER.exists():
        pytest.skip("no RabbitMQ here: apt-get install rabbitmq-server")
    server = RabbitMq(tmp_path_factory.mktemp("rabbitmq"))
    server.start()
    yield server
    server.close()
