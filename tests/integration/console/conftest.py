"""A ledger of its own, and the console in front of it."""

from collections.abc import Iterator

import pytest
from httpx2 import Client
from pydantic import SecretStr

from services.backbone.clock import SystemClock
from services.backbone.health import Health
from services.backbone.ledger.database import migrate, open_pool
from services.backbone.ledger.reading import LedgerReader
from services.backbone.service import HttpServer
from services.backbone.settings import LedgerSettings
from services.console.app import create_app
from services.machine.ports import free_ports


@pytest.fixture
def reader(ledger_url: str) -> Iterator[LedgerReader]:
    settings = LedgerSettings(postgres_url=SecretStr(ledger_url))
    migrate(settings)
    pool = open_pool(settings)
    yield LedgerReader(pool)
    pool.close()


@pytest.fixture
def browser(reader: LedgerReader) -> Iterator[Client]:
    """An HTTP client of a running console."""
    port = free_ports(1)[0]
    app = create_app(reader, Health(), SystemClock(), refresh_seconds=5)
    with HttpServer(app, "127.0.0.1", port), Client(base_url=f"http://127.0.0.1:{port}") as client:
        yield client
