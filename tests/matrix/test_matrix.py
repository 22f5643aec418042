"""Every fault on every channel: nothing missing, no repeat without a mark, everything at rest.

`make matrix` runs it and writes docs/reports/matrix.md.
"""

import asyncio
import os
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from services.backbone.clock import SystemClock
from services.deliverer.channel import Traits
from services.deliverer.wiring import channel_names, opener
from tests.integration.deliverer.conftest import Bus
from tests.integration.deliverer.ledgers import Ledger, new_ledger
from tests.matrix.faults import FAULTS, GIVEN_UP
from tests.matrix.peer import Peer, Surroundings
from tests.matrix.peers import PEERS
from tests.matrix.report import Report
from tests.matrix.stage import Stage
from tests.postgres import OwnPostgres

pytestmark = [pytest.mark.matrix, pytest.mark.kafka, pytest.mark.postgres]


@pytest.fixture(scope="session")
def report() -> Iterator[Report]:
    report = Report()
    yield report
    if path := os.environ.get("MATRIX_REPORT"):
        report.write(Path(path), f"Run of {datetime.now(UTC).date()} at commit {commit()}.")


def commit() -> str:
    """Return what is checked out, with `-dirty` where it was changed since."""
    asked = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    return subprocess.run(asked, capture_output=True, check=False, text=True).stdout.strip()


@pytest.fixture(scope="session")
def own_postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnPostgres]:
    own = OwnPostgres(tmp_path_factory.mktemp("matrix"))
    own.start()
    yield own
    own.stop()


@pytest.fixture
def ledger(own_postgres: OwnPostgres) -> Ledger:
    return new_ledger(own_postgres)


@pytest.fixture(params=channel_names())
def peer(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Peer]:
    assert request.param in PEERS, f"give the matrix a far end for channel {request.param}"
    rabbitmq = partial(request.getfixturevalue, "rabbitmq")
    broker = partial(request.getfixturevalue, "foreign_broker")
    around = Surroundings(tmp_path, broker, rabbitmq)
    with PEERS[request.param](around) as peer:
        yield peer


@pytest.mark.promise("without_faults", "every")
@pytest.mark.promise("after_doubt", "every")
@pytest.mark.parametrize("fault", FAULTS)
def test_nothing_is_missing_and_no_repeat_is_unmarked(
    fault: str,
    peer: Peer,
    bus: Bus,
    ledger: Ledger,
    own_postgres: OwnPostgres,
    report: Report,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    traits = declared(peer, bus, monkeypatch)
    stage = Stage(peer, ledger, bus, own_postgres, tmp_path)
    try:
        if not FAULTS[fault](stage):
            report.leave_out(peer.channel, fault)
            return
        stage.wait(stage.at_rest, "at rest")
        stage.wait(stage.all_there, "what counts as sent is there")
        cell = stage.cell(fault, traits.dedupes_by_key)
    finally:
        stage.end()
    report.add(cell)
    assert (cell.missing, cell.repeats_unmarked, cell.failed_though_taken) == (0, 0, 0)
    assert cell.failed == (cell.deliveries if fault == GIVEN_UP else 0)
    assert cell.sent + cell.held + cell.failed == cell.deliveries
    assert cell.repeats_marked <= cell.in_doubt


def declared(peer: Peer, bus: Bus, monkeypatch: pytest.MonkeyPatch) -> Traits:
    """Return what the channel says of itself with the settings that it runs with here."""
    servers = bus.settings.kafka_bootstrap_servers
    for name, value in {"ALDEBARAN_KAFKA_BOOTSTRAP_SERVERS": servers, **peer.settings}.items():
        monkeypatch.setenv(name, value)

    async def ask() -> Traits:
        open_channel = opener(peer.channel)
        assert open_channel is not None
        channel = open_channel(SystemClock())
        await channel.close()
        return channel.traits

    return asyncio.run(ask())
