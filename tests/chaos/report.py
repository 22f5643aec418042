"""The kill matrix as a file that people read."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.chaos.trial import Outcome

_HEAD = """# Kill matrix: what was accepted, what alerted, how long until normal

Made by `make chaos`, on the machine named below. The whole system runs as `make run` starts it,
with three brokers of three copies each (two must have a record before it counts as written), and
everything between its programs and their stores going through doors that can be cut. While a load
runs through the gateway, one fault happens in the named phase. Afterwards every accepted
over-purchase must have alerted once, and its three deliveries (bus, webhook, e-mail) must have
arrived once each, counted at the far ends; the run fails otherwise.

- **accepted**: events that the gateway answered with 2xx, probes included.
- **alerted**: over-purchases among them = alerts in the ledger.
- **arrived**: messages at the three far ends, each delivery counted once.
- **repeats**: `m` with the visible mark, `k` under the same key on the bus, whose readers drop
  them by it; `h` are held for a person, as nobody can know whether the far end has them.
- **worst probe**, **normal again**: twice a second one over-purchase is sent by itself and timed
  from before the gateway to the webhook's receiver. Normal again is the time from the fault's
  *beginning* until five in a row took at most twice the baseline's 95th percentile (outages last
  {lasting}); 0: no probe took longer.

SIGSTOP outlasts a consumer's session (10 s), a broker's (9 s) and a deliverer's lease (15 s).
Network silent: what is sent gets lost and no connection ends; a broker is cut off from its peers
too. Disk full: the store's own small disk is filled to the last byte, and emptied again.
"""
_TITLES = ("accepted", "alerted", "arrived", "repeats", "worst probe", "normal again")


@dataclass
class ChaosReport:
    """All cells of a run, the facts of the machine, and what could not be tried."""

    lasting: str
    path: Path | None = None
    facts: list[str] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        """Take a cell in."""
        self.outcomes.append(outcome)
        self.write()

    def write(self) -> None:
        """Write the table, if a file was named."""
        if self.path is not None:
            self.path.write_text("\n".join(self._lines()) + "\n", "utf-8")

    def _lines(self) -> Iterator[str]:
        yield _HEAD.format(lasting=self.lasting)
        yield from (f"- {fact}" for fact in self.facts)
        yield ""
        yield f"| workload | phase | fault | hit | {' | '.join(_TITLES)} |"
        yield "|---" * 4 + "|--:" * len(_TITLES) + "|"
        yield from map(shown, self.outcomes)
        yield ""
        yield from (f"- {note}" for note in self.notes)


def shown(outcome: Outcome) -> str:
    """Return one line of the table."""
    cell, counts = outcome.cell, outcome.counts
    said = " + ".join(cell.hit)
    hit = said if cell.hit == outcome.hit else f"{said} ({', '.join(outcome.hit)})"
    kinds = ((counts.repeats_marked, "m"), (counts.repeats_same_key, "k"), (counts.held, "h"))
    repeats = " ".join(f"{number}{kind}" for number, kind in kinds if number) or "0"
    wrong = counts.missing + counts.not_expected + counts.repeats_unmarked
    values = (
        f"{outcome.accepted:,}",
        f"{counts.alerted:,} of {counts.expected:,}",
        f"{counts.arrived:,}",
        repeats + (f" **wrong: {counts}**" if wrong else ""),
        f"{outcome.probe_worst_ms / 1000:.2f} s",
        f"{outcome.normal_again_ms / 1000:.1f} s",
    )
    words = (cell.workload, cell.phase, cell.fault, hit or "-", *values)
    return f"| {' | '.join(words)} |"
