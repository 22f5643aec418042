"""A gateway as its own process, on a real broker, with a stream of the test's own."""

import os
import socket
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.producer import ProducerSettings
from services.contracts.streams import SHIPPED_STREAMS, StreamDeclaration, load_stream
from services.contracts.topics import stream_topics
from services.machine.child import Child, start_and_wait
from services.machine.ports import free_ports, is_free
from services.machine.programs import Program
from services.machine.readiness import HttpReadiness
from tests.integration.gateway.reading import Stream, wait_until

RABBITMQ_SERVER = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")

StartGateway = Callable[..., Child]


@pytest.fixture
def streams_dir(tmp_path: Path) -> Path:
    """A folder with one declaration: the shipped stream under a name of this test's own."""
    folder = tmp_path / "streams"
    folder.mkdir()
    declared = yaml.safe_load((SHIPPED_STREAMS / "trades.yaml").read_text())
    declared["stream"] = f"t-{uuid.uuid4().hex}"
    (folder / "stream.yaml").write_text(yaml.safe_dump(declared))
    return folder


def declare(stream: StreamDeclaration, bootstrap: str) -> None:
    admin = TopicAdmin(ProducerSettings(kafka_bootstrap_servers=bootstrap), "test", 30)
    admin.declare(stream_topics(stream))


@pytest.fixture
def stream(streams_dir: Path, kafka_bootstrap: str) -> Stream:
    """The test's own stream, its topics declared on the shared broker."""
    declaration = load_stream(streams_dir / "stream.yaml")
    declare(declaration, kafka_bootstrap)
    return Stream(declaration.stream, kafka_bootstrap)


@contextmanager
def programs() -> Iterator[Callable[[Program, Path, dict[str, str]], Child]]:
    started: list[Child] = []

    def start(program: Program, log_file: Path, settings: dict[str, str]) -> Child:
        child = start_and_wait(program, log_file, os.environ | settings)
        started.append(child)
        return child

    try:
        yield start
    finally:
        for child in started:
            child.stop()


@pytest.fixture
def start_program(tmp_path: Path, streams_dir: Path) -> Iterator[StartGateway]:
    """Start a program of the gateway: module, port, the page to wait for, further settings."""
    with programs() as start:

        def started(module: str, port: int, page: str = "/healthz/ready", **settings: str) -> Child:
            spelled = {f"ALDEBARAN_{name.upper()}": value for name, value in settings.items()}
            program = Program(
                module, (sys.executable, "-m", module), readiness=HttpReadiness(port, page)
            )
            own = {
                "ALDEBARAN_HTTP_PORT": str(port),
                "ALDEBARAN_STREAMS_DIR": str(streams_dir),
                "ALDEBARAN_LOG_LEVEL": "warning",
            }
            return start(program, tmp_path / f"{module}.log", own | spelled)

        yield started


class AmqpReadiness:
    """Ready when the server answers the first bytes of the protocol."""

    def __init__(self, port: int) -> None:
        self._port = port

    def is_ready(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self._port), timeout=2) as connection:
                connection.sendall(b"AMQP\x00\x00\x09\x01")
                return bool(connection.recv(1))
        except OSError:
            return False


@pytest.fixture(scope="session")
def rabbitmq(tmp_path_factory: pytest.TempPathFactory) -> Iterator["RabbitMq"]:
    """A RabbitMQ that can be stopped and started again; use queues with names of your own."""
    if not RABBITMQ_SERVER.exists():
        pytest.skip("no RabbitMQ here: apt-get install rabbitmq-server")
    server = RabbitMq(tmp_path_factory.mktemp("rabbitmq"))
    server.start()
    yield server
    server.close()


class RabbitMq:
    """One node with its own name, ports, cookie and data."""

    def __init__(self, folder: Path) -> None:
        self._log_file = folder / "out.log"
        self._port, distribution, self._names_port = free_ports(3)
        self._settings = {
            "HOME": str(folder),
            "RABBITMQ_NODENAME": f"t{uuid.uuid4().hex}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self._port),
            "RABBITMQ_DIST_PORT": str(distribution),
            "ERL_EPMD_PORT": str(self._names_port),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
            "RABBITMQ_LOG_BASE": str(folder / "log"),
            "RABBITMQ_LOGS": "-",
            "RABBITMQ_PID_FILE": str(folder / "pid"),
            "RABBITMQ_CONF_ENV_FILE": os.devnull,
            "RABBITMQ_CONFIG_FILE": str(folder / "none"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 +sbwt none",
        }
        self._running: Child | None = None

    @property
    def url(self) -> str:
        return f"amqp://guest:guest@127.0.0.1:{self._port}/"

    def start(self) -> None:
        program = Program("rabbitmq", (str(RABBITMQ_SERVER),), readiness=AmqpReadiness(self._port))
        self._running = start_and_wait(program, self._log_file, os.environ | self._settings)

    def kill(self) -> None:
        """Let the node die at once, as in a power cut."""
        assert self._running is not None
        self._running.end(0)

    def close(self) -> None:
        self.kill()
        wait_until(self._names_server_gone, "the end of Erlang's name server")

    def _names_server_gone(self) -> bool:
        """Erlang's name server outlives the node, and obeys once it has noticed the node's end."""
        command = ["epmd", "-port", str(self._names_port), "-kill"]
        subprocess.run(command, check=False, capture_output=True)
        return is_free(self._names_port)
