"""Every program under every fault while events flow: nothing lost, nothing repeated unmarked.

`make chaos` runs it and writes docs/reports/chaos.md. One test, as all cells share one system and
are measured against its undisturbed cells. What each cell came to is kept beside the report,
so runs add up: `CHAOS_ONLY` picks cells whose title it matches as a regular expression,
`CHAOS_LEFT=1` those without a good result; after `CHAOS_MINUTES` no further cell begins.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from services.machine.waiting import now_seconds
from tests.chaos.cells import Cell, Fault, Workload, plan
from tests.chaos.conftest import BATCH_SECONDS
from tests.chaos.disks import Disks
from tests.chaos.probe import TIMES_BASELINE
from tests.chaos.report import write
from tests.chaos.results import Result, Results, Run, read_results, result, this_run
from tests.chaos.stage import Stage
from tests.chaos.trial import WARM_UP_PROBES, Trial

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(7200)]


@dataclass(frozen=True)
class Asked:
    """What the environment asks for."""

    only: str = os.environ.get("CHAOS_ONLY", "")
    left: bool = bool(os.environ.get("CHAOS_LEFT"))
    minutes: float = float(os.environ.get("CHAOS_MINUTES", "90"))
    report: str | None = os.environ.get("CHAOS_REPORT")

    def path(self, suffix: str) -> Path | None:
        """Return where the report is, or its figures."""
        return Path(self.report).with_suffix(suffix) if self.report else None

    def picked(self, cells: Sequence[Cell], results: Results, disks: Disks) -> list[Cell]:
        """Return the cells to play, those of one load after the other; none is no run at all,
        unless what is left is asked for."""
        wanted = results.left(cells) if self.left else cells
        only = re.compile(self.only)
        chosen = [cell for cell in wanted if cell.hit and only.search(cell.title)]
        assert chosen or self.left, f"no cell of the plan matches: {self.only}"
        chosen = [cell for cell in chosen if disks.allow(cell.fault)]
        assert chosen or self.left, f"this machine's disks cannot have that: {self.only}"
        return sorted(chosen, key=lambda cell: list(Workload).index(cell.workload))


@dataclass
class Player:
    """Plays cells on one stage and notes what they came to."""

    stage: Stage
    cells: Sequence[Cell]
    results: Results
    report: Path | None
    run: Run
    limits_ms: dict[Workload, float] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def play(self, cell: Cell) -> None:
        """Play a cell; the first of each load is measured against an undisturbed one before it."""
        if cell.workload not in self.limits_ms:
            warm_up_probes = 0 if self.limits_ms else WARM_UP_PROBES
            calm = self._played(Cell(Fault.NONE, workload=cell.workload), warm_up_probes)
            assert calm.outcome is not None, f"no baseline: {calm.problem}"
            assert not calm.outcome.counts.problem, f"no baseline: {calm.outcome}"
            assert calm.outcome.probe_p95_ms, f"no baseline: {calm.outcome}"
            self.limits_ms[cell.workload] = calm.outcome.probe_p95_ms * TIMES_BASELINE
        self._played(cell)

    def _played(self, cell: Cell, warm_up_probes: int = 0) -> Result:
        """Play a cell; one that cannot be played to its end is a result too, whatever ends it."""
        try:
            played = result(cell, self.run, self._trial(cell, warm_up_probes).play())
        except Exception as problem:
            said = f"{type(problem).__name__}: {problem}"[:500]
            played = result(cell, self.run, problem=said)
        self.results.add(played)
        if self.report is not None:
            write(self.results, self.cells, self.report)
        if not played.good:
            self.wrong.append(f"{cell.title}: {played.problem or played.outcome}")
        return played

    def _trial(self, cell: Cell, warm_up_probes: int) -> Trial:
        return Trial(self.stage, cell, self.limits_ms.get(cell.workload, 0), warm_up_probes)


def test_every_accepted_over_purchase_alerts_once_whatever_dies(stage: Stage) -> None:
    asked, cells = Asked(), plan(stage.auditors())
    results = read_results(asked.path(".json"))
    results.keep_only(cells)
    player = Player(stage, cells, results, asked.path(".md"), this_run(BATCH_SECONDS))
    begun_seconds = now_seconds()
    for cell in asked.picked(cells, results, stage.disks):
        if now_seconds() - begun_seconds > 60 * asked.minutes:
            break
        player.play(cell)
    assert not player.wrong, player.wrong
