"""What each cell came to when it was last played, kept in a file so that runs add up."""

import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import psutil
from pydantic import TypeAdapter

from tests.chaos.cells import Cell
from tests.chaos.counting import Counts
from tests.chaos.facts import machine

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Outcome:
    """What a cell came to; times in milliseconds, `normal_again_ms` 0 where no probe was late, and
    None where that never came; `load_runs` tells whether the load had not ended when the fault
    came, if that was noted; `probes_never` counts probes of which no message ever came, if all that
    had not arrived at the fault were judged."""

    hit: tuple[str, ...]
    accepted: int
    counts: Counts
    probe_p95_ms: int | None
    probe_worst_ms: int | None
    limit_ms: float
    normal_again_ms: int | None
    load_runs: bool | None = None
    probes_never: int | None = None


@dataclass(frozen=True)
class Run:
    """One run of the matrix, whole or in part; `begun` is UTC."""

    begun: str
    commit: str
    machine: str
    batch_seconds: int


@dataclass(frozen=True)
class Result:
    """A cell as it was last played; without an outcome, `problem` says what stopped it.

    `load` is the machine's load average over the minute before the cell's end, at `at` (UTC).
    """

    cell: Cell
    run: Run
    at: str
    load: float
    outcome: Outcome | None = None
    problem: str = ""

    @property
    def good(self) -> bool:
        """Tell whether it was played to its end and came out right."""
        return self.outcome is not None and self.outcome.counts.right


@dataclass
class Results:
    """The last result of each cell, by title; written after each, so that a run cut short tells."""

    path: Path | None = None
    by_title: dict[str, Result] = field(default_factory=dict)

    def add(self, result: Result) -> None:
        """Take a result in, in place of an older one of the same cell."""
        self.by_title[result.cell.title] = result
        if self.path is not None:
            self.path.write_bytes(_ADAPTER.dump_json(self.by_title, indent=1) + b"\n")

    def keep_only(self, cells: Iterable[Cell]) -> None:
        """Forget cells that the plan does not have any more."""
        wanted = {cell.title for cell in cells}
        self.by_title = {title: one for title, one in self.by_title.items() if title in wanted}

    def left(self, cells: Iterable[Cell]) -> list[Cell]:
        """Return the cells that have no good result yet; those that were never played first."""
        known = self.by_title
        missing = [cell for cell in cells if cell.title not in known]
        played = [cell for cell in cells if cell.title in known]
        return missing + [cell for cell in played if not known[cell.title].good]


_ADAPTER: TypeAdapter[Mapping[str, Result]] = TypeAdapter(Mapping[str, Result])


def read_results(path: Path | None) -> Results:
    """Read what earlier runs left at a path; none at all where there is no file."""
    if path is None or not path.exists():
        return Results(path)
    return Results(path, dict(_ADAPTER.validate_json(path.read_bytes())))


def this_run(batch_seconds: int) -> Run:
    """Return when, of which commit and on what a run begins."""
    return Run(_now(), commit(ROOT), machine(), batch_seconds)


def commit(folder: Path) -> str:
    """Return the commit of a folder; a plus marks changes of anything but reports."""
    changed = _git(folder, "status", "--porcelain", "--", ".", ":!docs/reports")
    return _git(folder, "rev-parse", "--short", "HEAD") + "+" * bool(changed)


def result(cell: Cell, run: Run, outcome: Outcome | None = None, problem: str = "") -> Result:
    """Return what a cell came to just now."""
    return Result(cell, run, _now(), round(psutil.getloadavg()[0], 1), outcome, problem)


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M")


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout.strip()
