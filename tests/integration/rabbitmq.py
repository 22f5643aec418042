"""A real RabbitMQ, started by tests and killed at will."""

import os
import subprocess
import uuid
from pathlib import Path

from services.machine.ports import free_ports, is_free
from services.machine.servers.rabbitmq import AmqpReadiness, RabbitmqNode
from services.machine.supervision.child import Child, start_and_wait
from services.machine.supervision.programs import Program
from tests.integration.deliverer.waiting import until

RABBITMQ_SERVER = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
CONTROL = RABBITMQ_SERVER.with_name("rabbitmqctl")
CERTIFICATE = Path(__file__).parent / "deliverer" / "relay.pem"
"""Vouches for itself as 127.0.0.1; its key is there too and is nobody's secret."""
MESSAGE_LIMIT_BYTES = 5 * 1024 * 1024
_CONFIGURATION = """\
max_message_size = {limit}
listeners.ssl.1 = 127.0.0.1:{port}
ssl_options.cacertfile = {certificate}
ssl_options.certfile = {certificate}
ssl_options.keyfile = {certificate}
"""


class RabbitMq:
    """One node with its own name, ports, cookie and data."""

    def __init__(self, folder: Path) -> None:
        self._log_file = folder / "out.log"
        self.port, self.tls_port, self.nodes_port, self.names_port = free_ports(4)
        settings_file = folder / "rabbitmq.conf"
        settings_file.write_text(
            _CONFIGURATION.format(
                limit=MESSAGE_LIMIT_BYTES, port=self.tls_port, certificate=CERTIFICATE
            )
        )
        name = f"t{uuid.uuid4().hex}"
        self._settings = RabbitmqNode(
            folder, self.port, self.nodes_port, self.names_port, name, settings_file
        ).environment()
        self._running: Child | None = None

    @property
    def url(self) -> str:
        return self.through(self.port)

    def through(self, port: int) -> str:
        """The address by way of another port."""
        return f"amqp://guest:guest@127.0.0.1:{port}/"

    @property
    def tls_url(self) -> str:
        return f"amqps://guest:guest@127.0.0.1:{self.tls_port}/"

    def block_publishers(self, blocked: bool) -> None:
        """Raise or end the alarm that keeps publishers waiting."""
        share = "0.0000001" if blocked else "0.4"
        self.told("set_vm_memory_high_watermark", share)

    def told(self, *words: str) -> None:
        """Tell the node something as its operator does."""
        subprocess.run(
            [str(CONTROL), "-n", self._settings["RABBITMQ_NODENAME"], *words],
            env=os.environ | self._settings,
            check=True,
            capture_output=True,
        )

    def start(self) -> None:
        program = Program("rabbitmq", (str(RABBITMQ_SERVER),), readiness=AmqpReadiness(self.port))
        self._running = start_and_wait(program, self._log_file, os.environ | self._settings)
        # It begins to listen for TLS when it listens on its first port already.
        until(lambda: not is_free(self.tls_port), "RabbitMQ listens for TLS")

    def kill(self) -> None:
        """Let the node die at once, as in a power cut."""
        assert self._running is not None
        self._running.end(0)

    def close(self) -> None:
        self.kill()
        until(self._names_server_gone, "the end of Erlang's name server")

    def _names_server_gone(self) -> bool:
        """Erlang's name server outlives the node, and obeys once it has noticed the node's end."""
        command = ["epmd", "-port", str(self.names_port), "-kill"]
        subprocess.run(command, check=False, capture_output=True)
        return is_free(self.names_port)
