"""What tests with real parts need beyond `tests/conftest.py`."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from pydantic import SecretStr

from services.backbone.ledger.database import Pool, open_pool
from services.backbone.ledger.schema import migrate
from services.backbone.settings import LedgerSettings
from services.machine.ports import free_ports
from tests.broker import GUARDED, OwnBroker
from tests.integration.s3 import S3Server
from tests.passage import Passage
from tests.postgres import OwnPostgres, database_like

_DRAWN_BESIDE = (
    "ignore:Do not use the `random` module inside strategies"
    ":hypothesis.errors.HypothesisDeprecationWarning"
)


def pytest_configure(config: pytest.Config) -> None:
    """Let a pool's worker draw a random lifetime while Hypothesis draws an example.

    Hypothesis compares the state of the global `random` before and after a draw, and psycopg_pool
    spreads its connections' ends with it on a thread of its own; unit tests stay strict.
    """
    config.addinivalue_line("filterwarnings", _DRAWN_BESIDE)


@pytest.fixture(scope="session")
def empty_ledger(postgres_url: str) -> Iterator[str]:
    """The name of a database with our schema and nothing in it, to be copied: migrating takes more
    of the machine than a copy."""
    with database_like("template1", postgres_url) as address:
        migrate(LedgerSettings(postgres_url=SecretStr(address)))
        yield address.rpartition("/")[2]


@pytest.fixture
def ledger_url(postgres_url: str, empty_ledger: str) -> Iterator[str]:
    """The address of an empty ledger with its schema, of the test's own."""
    with database_like(empty_ledger, postgres_url) as address:
        yield address


@pytest.fixture
def pool(ledger_url: str) -> Iterator[Pool]:
    """Connections to the test's own ledger."""
    with open_pool(LedgerSettings(postgres_url=SecretStr(ledger_url))) as made:
        yield made


@pytest.fixture
def own_broker(aldebaran_tools: Path, tmp_path: Path) -> Iterator[OwnBroker]:
    """A broker that this test may kill."""
    own = OwnBroker(aldebaran_tools, tmp_path)
    yield own
    own.running.stop()


@pytest.fixture
def guarded_broker(aldebaran_tools: Path, tmp_path: Path) -> Iterator[OwnBroker]:
    """A broker that can be told to forbid."""
    own = OwnBroker(aldebaran_tools, tmp_path, more=GUARDED)
    yield own
    own.running.stop()


@pytest.fixture
def passage(aldebaran_tools: Path, tmp_path: Path) -> Iterator[Passage]:
    """A way to a broker that tells its clients of no other."""
    (told_port,) = free_ports(1)
    own = OwnBroker(aldebaran_tools, tmp_path, told_port)
    with Passage(own.node.port, told_port).listening() as passage:
        yield passage
    own.running.stop()


@pytest.fixture
def stopped_postgres(tmp_path: Path, databases: Path) -> Iterator[OwnPostgres]:
    """A Postgres that this test starts itself."""
    with TemporaryDirectory(dir=databases) as files:
        own = OwnPostgres(Path(files), tmp_path)
        yield own
        own.stop()


@pytest.fixture
def own_postgres(stopped_postgres: OwnPostgres) -> OwnPostgres:
    """A running Postgres that this test may stop or kill."""
    stopped_postgres.start()
    return stopped_postgres


@pytest.fixture
def store(aldebaran_tools: Path, tmp_path: Path) -> Iterator[S3Server]:
    """A running store with an empty bucket."""
    server = S3Server(tmp_path / "s3", aldebaran_tools)
    server.start()
    yield server
    server.kill()
