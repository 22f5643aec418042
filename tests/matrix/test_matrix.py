"""Every fault on every channel: nothing missing, no repeat without a mark, everything at rest.

`make matrix` runs it and writes docs/reports/matrix.md.
"""

import asyncio
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing
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
from tests.matrix.peer import CellSurroundings, Peer
from tests.matrix.peers import FAR_ENDS, PEERS
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
    folder = tmp_path_factory.mktemp("matrix")
    own = OwnPostgres(folder, folder)
    own.start()
    yield own
    own.stop()


@pytest.fixture
def ledger(own_postgres: OwnPostgres) -> Iterator[Ledger]:
    with closing(new_ledger(own_postgres)) as made:
        yield made


@pytest.fixture(params=FAR_ENDS)
def far_end(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def peer(
    far_end: str,
    request: pytest.FixtureRequest,
    kafka_bootstrap: str,
    ledger: Ledger,
    report: Report,
    tmp_path: Path,
) -> Iterator[Peer]:
    rabbitmq = partial(request.getfixturevalue, "rabbitmq")
    broker = partial(request.getfixturevalue, "foreign_broker")
    around = CellSurroundings(tmp_path, broker, rabbitmq, kafka_bootstrap, ledger)
    with ExitStack() as open_peer:
        try:
            peer = open_peer.enter_context(FAR_ENDS[far_end](around))
        except pytest.skip.Exception as lacking:
            report.miss(far_end, str(lacking))
            raise
        yield peer


@pytest.fixture
def stage(
    far_end: str, peer: Peer, ledger: Ledger, bus: Bus, own_postgres: OwnPostgres, tmp_path: Path
) -> Iterator[Stage]:
    stage = Stage(far_end, peer, ledger, bus, own_postgres, tmp_path)
    yield stage
    stage.end()


def test_every_channel_has_a_far_end() -> None:
    assert sorted(PEERS) == sorted(channel_names())


@pytest.mark.promise("without_faults", "every")
@pytest.mark.promise("after_doubt", "every")
@pytest.mark.parametrize("fault", FAULTS)
def test_nothing_is_missing_and_no_repeat_is_unmarked(
    fault: str, stage: Stage, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    traits = declared(stage.peer, stage.bus, monkeypatch)
    with report.broken_off(stage.far_end, fault):
        lacking = FAULTS[fault](stage)
    if lacking:
        report.leave_out(stage.far_end, fault, stage.peer.lacks[lacking])
        return
    with report.broken_off(stage.far_end, fault):
        cell = stage.cell(fault, traits.dedupes_by_key)
    report.add(cell)
    assert not cell.problem
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
