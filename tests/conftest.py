"""Real servers for tests: one Kafka broker and one Postgres per session, on free ports."""

import os
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import httpcore2
import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from pydantic import SecretStr
from pyspark.sql import SparkSession

from auditor.session import open_session
from auditor.settings import AuditorSettings
from services.machine.installation import setup
from services.machine.ports import free_ports
from services.machine.servers import broker, postgres
from services.machine.supervision import child
from tests.integration.rabbitmq import RABBITMQ_SERVER, RabbitMq
from tests.lacking import pytest_runtest_makereport
from tests.postgres import database_like
from tests.quick_folder import quick_folder

__all__ = ["pytest_runtest_makereport"]

ROOT = Path(__file__).parents[1]

# A slow machine is no failure: tests have no timed assertions, hypothesis' own included.
hypothesis_settings.register_profile(
    "explore", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
# What lands is judged by the same examples each time, and by fewer, as they find nothing twice;
# --hypothesis-profile=explore draws others.
hypothesis_settings.register_profile(
    "aldebaran", hypothesis_settings.get_profile("explore"), derandomize=True, max_examples=60
)
hypothesis_settings.load_profile("aldebaran")


@pytest.fixture(scope="session", autouse=True)
def one_reading_of_certificates() -> Iterator[None]:
    """Let each HTTP client of a test process not read all of the system's certificates anew."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpcore2, "default_ssl_context", cache(httpcore2.default_ssl_context))
        yield


@pytest.fixture(scope="session")
def aldebaran_tools() -> Path:
    """The folder of the virtual environment and the jars, with the jars complete."""
    tools = ROOT / os.environ.get("ALDEBARAN_TOOLS", ".tools")
    setup.install_jars(tools, os.environ)
    return tools


@pytest.fixture(scope="session")
def aldebaran_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The session's own state folder."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session")
def kafka_bootstrap(aldebaran_tools: Path, aldebaran_home: Path) -> Iterator[str]:
    """The address of a running broker; give topics a name of your own, all tests share it."""
    port, controller_port = free_ports(2)
    node = broker.BrokerNode(aldebaran_home / "kafka", port, controller_port, heap_mebibytes=256)
    java = setup.required_java(os.environ)
    jars = setup.jars_folder(aldebaran_tools, "broker")
    broker.prepare(node, java, jars)
    log_file = aldebaran_home / "log" / "kafka.log"
    running = child.start_and_wait(broker.program(node, java, jars), log_file, os.environ)
    yield node.bootstrap
    running.stop()


@pytest.fixture(scope="session")
def databases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder for the files of databases that live for a test."""
    with quick_folder(tmp_path_factory.mktemp("databases")) as folder:
        yield folder


@pytest.fixture(scope="session")
def postgres_url(aldebaran_home: Path, databases: Path) -> Iterator[str]:
    """The address of a running Postgres, with the right to create databases."""
    server = postgres.PostgresServer(databases / "shared", free_ports(1)[0])
    binaries = postgres.find_binaries()
    postgres.prepare(server, binaries)
    log_file = aldebaran_home / "log" / "postgres.log"
    program = postgres.program(server, binaries)
    # It outlives every test, so only a loss of power could tell; each drop of a database flushes.
    unflushed = replace(program, command=(*program.command, "-c", "fsync=off"))
    running = child.start_and_wait(unflushed, log_file, os.environ)
    yield server.url()
    running.stop()


@pytest.fixture
def empty_database(postgres_url: str) -> Iterator[str]:
    """The address of an empty database of the test's own."""
    with database_like("template1", postgres_url) as address:
        yield address


@pytest.fixture(scope="session")
def spark(aldebaran_tools: Path) -> Iterator[SparkSession]:
    """Spark inside the test process, set up as the auditor sets it up."""
    jars = setup.jars_folder(aldebaran_tools, "spark")
    settings = AuditorSettings(
        auditor_slots=12,
        auditor_heap="768m",
        auditor_jars=jars,
        # A test's rows pass through a Python process for each part, else through one for each slot.
        auditor_spark_options={"spark.default.parallelism": SecretStr("2")},
    )
    session = open_session(settings)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def rabbitmq(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RabbitMq]:
    """A RabbitMQ that can be stopped and started again; use queues with names of your own."""
    if not RABBITMQ_SERVER.exists():
        pytest.skip("no RabbitMQ here: apt-get install rabbitmq-server")
    server = RabbitMq(tmp_path_factory.mktemp("rabbitmq"))
    server.start()
    yield server
    server.close()
