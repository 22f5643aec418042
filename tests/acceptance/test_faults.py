"""Kill -9 of each program once, a broker and a Postgres that stand still: nothing is lost.

Cells of the kill matrix (tests/chaos), played on one broker and without measuring: a workload that
counts itself runs through the gateway, the fault comes while events flow, and afterwards every
over-purchase must have alerted exactly once and reached each far end once.
"""

from collections.abc import Iterator

import pytest

from tests.acceptance.system import System
from tests.chaos.cells import Cell, Fault
from tests.chaos.stage import Stage
from tests.chaos.trial import Trial

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
PROGRAMS = ("gateway", "deliverer-webhook", "lookout", "postgres", "kafka", "auditor-a")
CELLS = [
    *(Cell(Fault.KILL, (name,)) for name in PROGRAMS),
    *(Cell(Fault.STOP, (name,)) for name in ("kafka", "postgres")),
]
NORMAL_MS = 60_000.0
"""Probes must arrive again; how fast they are is not judged here."""


@pytest.fixture(scope="module")
def stage(system: System) -> Iterator[Stage]:
    """The running system of all acceptance tests."""
    stage = Stage(system)
    stage.open()
    yield stage
    stage.close()


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.title)
def test_every_accepted_over_purchase_alerts_once_whatever_dies(stage: Stage, cell: Cell) -> None:
    outcome = Trial(stage, cell, limit_ms=NORMAL_MS).play()
    assert outcome.counts.right, outcome
