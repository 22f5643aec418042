"""A cell of the matrix that fails is in its report, with what is missing."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from services.contracts.records import Delivery
from tests.integration.deliverer import waiting
from tests.integration.deliverer.conftest import Bus
from tests.integration.deliverer.ledgers import Ledger
from tests.matrix.peer import Peer, Taken
from tests.matrix.report import Report
from tests.matrix.stage import Stage
from tests.postgres import OwnPostgres
from tests.unit.deliverer.builders import delivery

SENT = delivery(1)


@dataclass
class Holder:
    """A ledger with one delivery, and a far end that has nothing of it."""

    state: str

    def states(self) -> dict[str, str]:
        return {SENT.delivery_id: self.state}

    def rows(self, query: str) -> list[dict[str, Any]]:
        return []

    def taken(self, sent: list[Delivery]) -> Taken:
        return Taken({})


def stage(state: str, folder: Path) -> Stage:
    both = Holder(state)
    ledger, peer = cast(Ledger, both), cast(Peer, both)
    return Stage("nrdp", peer, ledger, cast(Bus, None), cast(OwnPostgres, None), folder, [SENT])


def written(report: Report, folder: Path) -> str:
    report.write(folder / "matrix.md", "A run.")
    return (folder / "matrix.md").read_text()


@pytest.mark.parametrize(
    ("state", "missing", "late"), [("SENT", 1, "what counts as sent"), ("CLAIMED", 0, "at rest")]
)
def test_what_does_not_come_is_counted(
    state: str, missing: int, late: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "DEADLINE_SECONDS", 0)
    cell = stage(state, tmp_path).cell("none", dedupes=False)
    assert cell.missing == missing
    assert late in cell.problem
    report = Report()
    report.add(cell)
    text = written(report, tmp_path)
    assert f"1 cells, 1 deliveries: missing {missing}," in text
    assert "**wrong: Cell(" in text


def test_a_cell_that_breaks_off_is_no_cell_that_was_not_run(tmp_path: Path) -> None:
    report = Report()
    with pytest.raises(AssertionError), report.broken_off("nrdp", "none"):
        raise AssertionError("did not | come")
    text = written(report, tmp_path)
    assert "0 cells and 1 that broke off, 0 deliveries" in text
    assert "| none | **AssertionError: did not / come** |" in text
