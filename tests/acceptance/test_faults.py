"""Kill -9 of each program once, a broker and a Postgres that stand still: nothing is lost.

`make test` plays the two that everything rests on: a broker is killed, a Postgres stands still. The
kills of single programs are there too, without the rest of the system, in their own tests.

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

pytestmark = pytest.mark.timeout(600)
SHORT = [
    Cell(Fault.KILL, ("kafka",)),
    Cell(Fault.STOP, ("postgres",)),
]
ALONE = ("auditor-a", "lookout", "gateway", "deliverer-webhook", "postgres")
LONG = [
    *(Cell(Fault.KILL, (name,)) for name in ALONE),
    Cell(Fault.STOP, ("kafka",)),
]
CELLS = [*SHORT, *(pytest.param(each, marks=pytest.mark.long) for each in LONG)]
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
