"""The matrix as a file that people read."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.matrix.faults import FAULTS, GIVEN_UP
from tests.matrix.stage import Cell

_HEAD = """# Every fault on every channel: what arrived

Made by `make matrix`: real deliverers, a real broker and Postgres, and for each channel a far end
that counts every message exactly. Half of the deliveries are critical; each is told twice on its
topic.
The faults are those of `tests/matrix/faults.py`; a killed process is killed by SIGKILL at the very
point, by itself. "Killed mid request" is done by the way to the far end: it lets a request through
half way, kills, and passes on no more of it; on other connections some may be whole by then, and
the repeats of that row are theirs. Files have no such way.

A cell reads: sent / in doubt at some time / held for a person; then repeats with the visible mark
(`m`), repeats under the same key where the receiver drops them by it (`k`), and deliveries that
failed, for which a fallback would begin (`f`). In every cell nothing is missing (nothing counts as
sent that the far end does not have, and nothing as failed that it has), and no repeat came without
mark or key: the test fails otherwise, and says so in the cell, also where the cell did not come to
rest in time, or broke off. A dash: this far end cannot do that; why stands below.

A channel with two columns has two ways: the bus to another cluster, or to the one that carries
the deliveries; e-mail by a relay of somebody else, or by a Postfix of our own whose log is evidence
(the far end behind it counts); Nagios by its result spool, or by its command file; SMS with
Twilio's list as evidence, or with its callbacks to our door alone.

How each far end words a refusal:

| far end | to wait | a server's error | for good |
|---|---|---|---|
| NRDP | 429 | 500 | `BAD JSON` |
| PagerDuty, push, SMS, webhook | 429 | 500 | 400 |
| Slack | 429 | 500 | `is_archived` |
| e-mail, both relays | 450 | 421 | 550 |
| RabbitMQ | nack of a full queue | an alarm: publishers are blocked | a login that may not write |
| bus | - | - | larger than the topic allows |
| Nagios' spool | the folder is not there | - | a service that Nagios does not show |
| Nagios' command file | Nagios is not running | - | a service that Nagios does not show |
| log | the file cannot be opened | - | - |
"""


@dataclass
class Report:
    """All cells of a run."""

    cells: dict[tuple[str, str], Cell] = field(default_factory=dict)
    left_out: dict[tuple[str, str], str] = field(default_factory=dict)
    """Why a cell is a dash."""
    broken: dict[tuple[str, str], str] = field(default_factory=dict)
    """Why a cell could not be played to its end."""
    missed: dict[str, str] = field(default_factory=dict)
    """Why a far end was not there in this run."""

    def add(self, cell: Cell) -> None:
        """Take a cell in."""
        self.cells[cell.fault, cell.far_end] = cell

    def leave_out(self, far_end: str, fault: str, why: str) -> None:
        """Say why a far end cannot play this fault."""
        self.left_out[fault, far_end] = why

    @contextmanager
    def broken_off(self, far_end: str, fault: str) -> Iterator[None]:
        """Note the error that a cell breaks off with, which is raised again."""
        try:
            yield
        except (Exception, pytest.fail.Exception) as problem:
            said = f"{type(problem).__name__}: {problem}".replace("|", "/")
            self.broken[fault, far_end] = " ".join(said.split())[:300]
            raise

    def miss(self, far_end: str, why: str) -> None:
        """Say why a far end could not be started here."""
        self.missed[far_end] = why

    def write(self, path: Path, run: str) -> None:
        """Write which run this was, what it came to, the table, and why there are dashes."""
        parts = [_HEAD, f"{run} {self._sum()}\n", *self._missed(), *self._table(), *self._dashes()]
        path.write_text("\n".join(parts) + "\n")

    def _sum(self) -> str:
        cells = self.cells.values()
        broken = f" and {len(self.broken)} that broke off" if self.broken else ""
        return (
            f"{len(cells)} cells{broken}, {sum(each.deliveries for each in cells)} deliveries:"
            f" missing {sum(each.missing for each in cells)}, unmarked repeats"
            f" {sum(each.repeats_unmarked for each in cells)}, failed though taken"
            f" {sum(each.failed_though_taken for each in cells)}."
        )

    def _missed(self) -> Iterator[str]:
        for far_end, why in sorted(self.missed.items()):
            yield f"**Not in this run**: {far_end} ({why}).\n"

    def _table(self) -> Iterator[str]:
        places = [*self.cells, *self.left_out, *self.broken]
        far_ends = sorted({far_end for _, far_end in places})
        yield f"| fault | {' | '.join(far_ends)} |"
        yield "|---" * (len(far_ends) + 1) + "|"
        for fault in [each for each in FAULTS if any(each == fault for fault, _ in places)]:
            shown = [self._shown(fault, far_end) for far_end in far_ends]
            yield f"| {fault} | {' | '.join(shown)} |"

    def _dashes(self) -> Iterator[str]:
        whose: dict[tuple[str, str], list[str]] = {}
        for (fault, far_end), why in sorted(self.left_out.items(), key=lambda each: each[0]):
            whose.setdefault((fault, why), []).append(far_end)
        yield "\nWhy a dash:\n"
        for (fault, why), far_ends in whose.items():
            yield f"- {fault}: {'; '.join(far_ends)}: {why}."

    def _shown(self, fault: str, far_end: str) -> str:
        cell = self.cells.get((fault, far_end))
        if problem := self.broken.get((fault, far_end)):
            return f"**{problem}**"
        if cell is None:
            return "-" if (fault, far_end) in self.left_out else "not run"
        forbidden = cell.missing + cell.repeats_unmarked + cell.failed_though_taken
        lost = cell.failed if fault != GIVEN_UP else 0
        said = " ".join(f"{cell}".replace("|", "/").split())
        wrong = f" **wrong: {said}**" if forbidden + lost or cell.problem else ""
        marks = [(cell.repeats_marked, "m"), (cell.repeats_same_key, "k"), (cell.failed, "f")]
        repeats = "".join(f" +{count}{kind}" for count, kind in marks if count)
        return f"{cell.sent} / {cell.in_doubt} / {cell.held}{repeats}{wrong}"
