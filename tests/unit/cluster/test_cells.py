"""A cell that loses an alert, or breaks off, takes the place of an older good one."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from services.contracts.ids import alert_id
from services.machine.problems import MachineProblem
from services.simulator.report import Report
from tests.acceptance.system import CHANNELS, Simulation
from tests.cluster import trial as trials
from tests.cluster.cells import Cell, Deed
from tests.cluster.release import Release
from tests.cluster.report import ClusterReport
from tests.cluster.trial import Outcome, Trial

CELL = Cell(Deed.ROLL_BACK)
KEY = "run-1"
FOUND = alert_id("over-purchase", [KEY])


@dataclass
class Played:
    """A release of which a load expects one alert; `told` on so many channels."""

    folder: Path
    told: tuple[str, ...] = CHANNELS
    broken: str = ""

    @property
    def system(self) -> "Played":
        return self

    def simulate(self, *dials: str) -> Simulation:
        path = self.folder / "report.json"
        path.write_text(report().model_dump_json())
        process = subprocess.Popen([sys.executable, "-c", ""])
        process.wait()
        return Simulation(process, path, 0)

    def roll_back(self) -> None:
        if self.broken:
            raise MachineProblem(self.broken)

    def wait_ready(self) -> None:
        """Ready at once."""

    def wait_for(self, condition: Callable[[], bool], otherwise: str) -> None:
        if otherwise != "the load does not begin" and not condition():
            raise MachineProblem(otherwise)

    def ask(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        if "appended_at_ms" in sql:
            return [(FOUND, 1000)]
        if "JOIN alerts" in sql:
            return [(f"d-{each}", FOUND, each, "SENT", False) for each in self.told]
        return [(each, f"d-{each}") for each in self.told]

    def received(self) -> dict[str, Counter[str]]:
        return {each: Counter({f"d-{each}": 1} if each in self.told else {}) for each in CHANNELS}

    def arrivals_ms(self) -> dict[str, int]:
        return {f"d-{each}": 1042 for each in self.told}

    def images(self) -> str:
        return "a b"


def report() -> Report:
    texts = {"run_id": "run", "target": "gateway"}
    ids = {"expected_order_ids": [KEY], "expected_alert_ids": [FOUND], "doubtful_order_ids": []}
    numbers = {name: 0 for name in Report.model_fields if name not in {*texts, *ids}}
    return Report.model_validate({**numbers, **texts, **ids, "accepted": 20})


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "pause", lambda seconds: None)


@pytest.fixture
def page(tmp_path: Path) -> ClusterReport:
    """A report in which the cell is good."""
    made = ClusterReport.open(tmp_path / "cluster.md")
    assert played(made, Played(tmp_path)).counts.right
    assert "**1 of 1 cells came out right**:" in text(tmp_path)
    return made


def played(page: ClusterReport, release: Played) -> Outcome:
    return page.played("local", Trial(cast(Release, release), CELL, "run"))


def text(folder: Path) -> str:
    return (folder / "cluster.md").read_text()


def test_a_lost_alert_is_counted_though_it_is_waited_for_in_vain(
    page: ClusterReport, tmp_path: Path
) -> None:
    outcome = played(page, Played(tmp_path, told=()))
    assert (outcome.counts.missing, outcome.counts.right) == (1, False)
    assert "not all is alerted and at rest" in outcome.counts.problem
    assert "**0 of 1 cells came out right, 1 wrong**:" in text(tmp_path)
    assert "0 of 1 alerts, 1 missing" in text(tmp_path)


def test_a_cell_that_breaks_off_stands_with_the_reason(page: ClusterReport, tmp_path: Path) -> None:
    with pytest.raises(MachineProblem):
        played(page, Played(tmp_path, broken="no | pod"))
    assert "**0 of 1 cells came out right, 1 wrong**, of which 1 ended before" in text(tmp_path)
    line = next(each for each in text(tmp_path).splitlines() if CELL.title in each)
    assert "**MachineProblem: no / pod**" in line
    head = next(each for each in text(tmp_path).splitlines() if each.startswith("| what happens"))
    assert line.count("|") == head.count("|")


def test_a_cell_whose_time_is_over_stands_too(page: ClusterReport, tmp_path: Path) -> None:
    release = Played(tmp_path)
    release.wait_ready = lambda: pytest.fail("Timeout >1800.0s")  # type: ignore[method-assign]
    with pytest.raises(pytest.fail.Exception):
        played(page, release)
    assert "Timeout >1800.0s" in text(tmp_path)


def test_an_older_report_is_still_read(page: ClusterReport, tmp_path: Path) -> None:
    kept = tmp_path / "cluster.json"
    older = json.loads(kept.read_text())
    del older["cells"]["local"][CELL.title]["counts"]["problem"]
    kept.write_text(json.dumps(older))
    ClusterReport.open(tmp_path / "cluster.md").write()
    assert "**1 of 1 cells came out right**:" in text(tmp_path)
