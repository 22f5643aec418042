"""RabbitMQ's node as this machine runs it: nothing of it is reached from elsewhere."""

import socket

import pytest

from tests.integration.rabbitmq import RabbitMq

pytestmark = pytest.mark.rabbitmq


def answers(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=5).close()
    except OSError:
        return False
    return True


def test_it_listens_on_127_0_0_1_only_and_obeys_its_operator(rabbitmq: RabbitMq) -> None:
    ports = (rabbitmq.port, rabbitmq.tls_port, rabbitmq.nodes_port, rabbitmq.names_port)
    assert [answers("127.0.0.1", port) for port in ports] == [True] * 4
    assert [answers("127.0.0.2", port) for port in ports] == [False] * 4
    rabbitmq.told("await_startup")
