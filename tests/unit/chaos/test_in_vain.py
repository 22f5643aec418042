"""What a trial waits for in vain stands beside its counts, and is not right."""

import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import httpx2
import psycopg
import pytest
from confluent_kafka import KafkaException

from services.contracts.ids import alert_id
from services.machine.problems import MachineProblem
from services.simulator.report import Report
from tests.acceptance.system import Simulation
from tests.chaos import trial
from tests.chaos.cells import Cell, Fault, Phase
from tests.chaos.probe import Sample, now_ms
from tests.chaos.results import Run, read_results
from tests.chaos.stage import Stage
from tests.chaos.test_chaos import Player
from tests.chaos.trial import Trial

CELL = Cell(Fault.NONE, phase=Phase.START)
FOUND = alert_id("over-purchase", ["cell1-0"])
TEXTS = {"run_id": "cell1", "target": "gateway"}
IDS = {"expected_order_ids": [], "expected_alert_ids": [FOUND], "doubtful_order_ids": []}


@dataclass
class Silent:
    """A stage, its system and its probe, where one alert is expected and does not come."""

    folder: Path
    unwell: list[str] = field(default_factory=list)
    under_way_ms: int = 2 * now_ms()

    @property
    def system(self) -> "Silent":
        return self

    def next_number(self) -> int:
        return 1

    def wait_until_well(self) -> None:
        """All is well before the fault, and not after it."""
        if self.unwell:
            raise MachineProblem(self.unwell[0])
        self.unwell.append("not well: lookout")

    def probe(self, name: str) -> "Silent":
        return self

    def samples(self) -> list[Sample]:
        """One came long before the fault, one after it had been under way, one never."""
        return [Sample(0, 10), Sample(0, self.under_way_ms), Sample(0, None)]

    def accepted(self) -> set[str]:
        return set()

    def unanswered(self) -> set[str]:
        return {"p1-0"}

    def simulate(self, *dials: str) -> Simulation:
        numbers = {name: 0 for name in Report.model_fields if name not in {*TEXTS, *IDS}}
        path = self.folder / "report.json"
        path.write_text(Report.model_validate({**numbers, **TEXTS, **IDS}).model_dump_json())
        process = subprocess.Popen([sys.executable, "-c", ""])
        process.wait()
        return Simulation(process, path, 0)

    def wait_for(self, condition: object, otherwise: str) -> None:
        """The load begins at once."""

    def pause(self, seconds: float) -> None:
        """Nothing lasts."""

    def finish(self) -> None:
        raise MachineProblem("nobody accepts a probe")

    def received(self) -> dict[str, Counter[str]]:
        return {}

    def ask(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        return []


def test_a_lost_alert_is_counted_and_all_that_did_not_come_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "NORMAL_TIMEOUT_SECONDS", 0)
    stage = Silent(tmp_path)
    outcome = Trial(cast(Stage, stage), CELL, limit_ms=100).play()
    assert (outcome.counts.expected, outcome.counts.missing, outcome.counts.right) == (1, 1, False)
    for said in (
        "latency does not get normal",
        "nobody accepts",
        "not all is alerted",
        "not well: lookout",
    ):
        assert said in outcome.counts.problem
    assert (outcome.probe_worst_ms, outcome.probes_never) == (stage.under_way_ms, 1)
    assert outcome.normal_again_ms is None


@pytest.mark.parametrize(
    "ending",
    [
        subprocess.TimeoutExpired("the load", 180),
        KafkaException("no broker"),
        httpx2.ConnectError("gone"),
        psycopg.OperationalError("gone"),
    ],
    ids=lambda ending: type(ending).__name__,
)
def test_whatever_ends_a_cell_is_a_result_in_the_place_of_an_older_one(
    ending: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(stage: Silent) -> None:
        raise ending

    monkeypatch.setattr(Silent, "wait_until_well", end)
    run = Run("2026-01-01 10:00", "aaaaaaa", "2 cores, 4 GiB", 60)
    player = Player(cast(Stage, Silent(tmp_path)), [CELL], read_results(None), None, run)
    player.limits_ms[CELL.workload] = 100
    player.play(CELL)
    noted = player.results.by_title[CELL.title]
    assert (noted.outcome, noted.problem) == (None, f"{type(ending).__name__}: {ending}")
    assert CELL.title in player.wrong[0]
