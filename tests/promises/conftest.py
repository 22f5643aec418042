"""A far end per channel for the whole suite; each test opens the channel anew and sends itself."""

import uuid
from collections.abc import AsyncIterator, Iterator
from functools import partial

import psycopg
import pytest

from services.backbone.clock import SystemClock
from services.deliverer.wiring import channel_names, opener
from tests.integration.deliverer.conftest import foreign_broker
from tests.integration.deliverer.ledgers import Ledger
from tests.matrix.peer import Peer, Surroundings
from tests.matrix.peers import PEERS
from tests.promises.lines import named
from tests.promises.senders import Sender

__all__ = ["foreign_broker"]

NEEDS = {
    "bus": [pytest.mark.kafka],
    "nagios": [pytest.mark.nagios],
    "push": [pytest.mark.postgres],
    "rabbitmq": [pytest.mark.rabbitmq],
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test for the channels that its marks name; without a mark for all."""
    if "channel_name" not in metafunc.fixturenames:
        return
    marks = [each.args for each in metafunc.definition.iter_markers("promise")]
    everyone = channel_names()
    names = sorted({name for mark in marks for name in named(mark, everyone)} or {*everyone})
    params = [pytest.param(name, marks=NEEDS.get(name, [])) for name in names]
    metafunc.parametrize("channel_name", params, scope="module")


@pytest.fixture(scope="module")
def peer(
    channel_name: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Peer]:
    """The channel's far end, which counts."""
    broker = partial(request.getfixturevalue, "foreign_broker")
    rabbitmq = partial(request.getfixturevalue, "rabbitmq")
    around = Surroundings(tmp_path_factory.mktemp(channel_name), broker, rabbitmq)
    with PEERS[channel_name](around) as peer:
        yield peer


@pytest.fixture(scope="module")
def stores(channel_name: str, request: pytest.FixtureRequest) -> dict[str, str]:
    """The settings of the ledger, for the channel that uses it."""
    if channel_name != "push":
        return {}
    url = request.getfixturevalue("postgres_url")
    name = f"promises_{uuid.uuid4().hex}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    ledger = Ledger(f"{url.rpartition('/')[0]}/{name}").migrated()
    return {"ALDEBARAN_POSTGRES_URL": ledger.url}


@pytest.fixture
async def sender(
    channel_name: str,
    peer: Peer,
    stores: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[Sender]:
    """The channel as a deliverer has it, and its far end without a fault."""
    for name, value in {**stores, **peer.settings}.items():
        monkeypatch.setenv(name, value)
    open_channel = opener(channel_name)
    assert open_channel is not None
    channel = open_channel(SystemClock())
    one = Sender(channel, peer, SystemClock())
    yield one
    one.calm()
    await channel.close()
