"""A gateway's log is JSON from its first line on, also where Kafka's client has that one."""

import json
import os
import subprocess
import sys

import pytest

from services.machine.ports import free_ports


@pytest.mark.parametrize("program", ["services.gateway", "services.gateway.amqp"])
def test_what_is_said_while_it_starts_is_json(program: str) -> None:
    kafka, own = free_ports(2)
    settings = {
        "ALDEBARAN_KAFKA_BOOTSTRAP_SERVERS": f"127.0.0.1:{kafka}",
        "ALDEBARAN_HTTP_PORT": str(own),
        "ALDEBARAN_API_KEYS": "off",
    }
    with subprocess.Popen(
        [sys.executable, "-m", program],
        env=os.environ | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as started:
        assert started.stdout is not None
        try:
            assert "kafka_client" in (json.loads(line)["event"] for line in started.stdout)
        finally:
            started.kill()
