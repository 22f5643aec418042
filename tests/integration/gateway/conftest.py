"""A gateway as its own process, on a real broker, with a stream of the test's own."""

import os
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.producer import ProducerSettings
from services.contracts.streams import (
    SHIPPED_STREAMS,
    StreamDeclaration,
    load_stream,
    stream_topics,
)
from services.machine.supervision.child import Child, start_and_wait
from services.machine.supervision.programs import Program
from services.machine.supervision.readiness import HttpReadiness
from tests.integration.gateway.reading import Stream

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
