"""The matrix as a file that people read."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.matrix.faults import GIVEN_UP
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
mark or key: the test fails otherwise. A dash: this far end cannot be made to do that.

How each far end words a refusal: to wait is 429 (mail: 450); a server's error is 500 (mail: 421);
for good is 400 (mail: 550, NRDP: `BAD JSON`, Slack: `is_archived`).
"""


@dataclass
class Report:
    """All cells of a run."""

    cells: dict[tuple[str, str], Cell] = field(default_factory=dict)
    left_out: set[tuple[str, str]] = field(default_factory=set)

    def add(self, cell: Cell) -> None:
        """Take a cell in."""
        self.cells[cell.fault, cell.channel] = cell

    def leave_out(self, channel: str, fault: str) -> None:
        """Say that a provider cannot play this fault."""
        self.left_out.add((fault, channel))

    def write(self, path: Path, run: str) -> None:
        """Write which run this was, what it came to, and the table."""
        path.write_text("\n".join([_HEAD, f"{run} {self._sum()}\n", *self._table()]) + "\n")

    def _sum(self) -> str:
        cells = self.cells.values()
        return (
            f"{len(cells)} cells, {sum(each.deliveries for each in cells)} deliveries: missing"
            f" {sum(each.missing for each in cells)}, unmarked repeats"
            f" {sum(each.repeats_unmarked for each in cells)}, failed though taken"
            f" {sum(each.failed_though_taken for each in cells)}."
        )

    def _table(self) -> Iterator[str]:
        places = [*self.cells, *self.left_out]
        channels = sorted({channel for _, channel in places})
        yield f"| fault | {' | '.join(channels)} |"
        yield "|---" * (len(channels) + 1) + "|"
        for fault in dict.fromkeys(fault for fault, _ in places):
            shown = [self._shown(fault, channel) for channel in channels]
            yield f"| {fault} | {' | '.join(shown)} |"

    def _shown(self, fault: str, channel: str) -> str:
        cell = self.cells.get((fault, channel))
        if cell is None:
            return "-" if (fault, channel) in self.left_out else "not run"
        forbidden = cell.missing + cell.repeats_unmarked + cell.failed_though_taken
        lost = cell.failed if fault != GIVEN_UP else 0
        wrong = f" **wrong: {cell}**" if forbidden + lost else ""
        marks = [(cell.repeats_marked, "m"), (cell.repeats_same_key, "k"), (cell.failed, "f")]
        repeats = "".join(f" +{count}{kind}" for count, kind in marks if count)
        return f"{cell.sent} / {cell.in_doubt} / {cell.held}{repeats}{wrong}"
