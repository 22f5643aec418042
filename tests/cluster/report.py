"""What the cells came to, as a file that people read; runs add to what earlier ones wrote."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

import pytest

from tests.chaos.cells import UNSURE_DELIVERERS
from tests.chaos.counting import SENDS_AT_ONCE, Counts, in_one_line
from tests.cluster.trial import Outcome

_HEAD: Final = """# In a real cluster: what was accepted, what alerted, what arrived

Made by `make cluster-test` on a real Kubernetes, of one node where it does not say more. The chart
is installed, `helm test` sends a trade and waits for its alert, and then, while a load runs through
the gateway, one thing at a time happens to the release. Afterwards every accepted over-purchase
must have alerted once, and its three deliveries (bus, webhook, e-mail) must have arrived once each,
counted at a far end outside the release; the run fails otherwise. A cell that could not be played
to its end stands with the reason, and is wrong; so is one that did not come to rest in time, whose
counts are those of that moment.

- **pod killed**: deleted with a second to drain, so killed after two, and no hook ends before it.
- **accepted**: events that the gateway answered with 2xx; **again**: requests that the publisher
  sent once more, under the same ids, as no answer came.
- **alerted**: over-purchases among them = alerts in the ledger.
- **arrived**: messages at the three far ends, each delivery counted once.
- **repeats**: `m` with the visible mark, one of a message at most: the ledger says so here, and
  that such a message shows the mark is read in the messages of [matrix.md](matrix.md); `k` under
  the same key on the bus, whose readers drop them by it; `h` are held for a person, as nobody
  can know whether the far end has them: none where neither a deliverer nor a store
  was hit, else {held} at most, what {deliverers} deliverers have under way.
- **autoscaled**: the part's work is made to grow (many events for the gateway, a ledger that takes
  no alerts for the lookout, a receiver that answers after 3 s for the webhooks) until an HPA on CPU
  or KEDA has added a pod; then it is little again, until the pod is taken away.
- **power lost and back**: every process of the node ends at once; it starts again once Kubernetes
  has seen that it is away. **For good**: the Node object is deleted then, as clouds do; all but the
  third broker must be whole elsewhere; then another node of that name joins.
- **network silent**: packets of the node are lost both ways until Kubernetes has seen it and for
  20 s more, while its programs run on. **Drained**: `kubectl drain`, all but the third broker whole
  elsewhere, `kubectl uncordon`.
- **p50, p99, worst**: from the broker's stamp on the purchase that crossed to the webhook's
  receiver.
- **whole**: from the deed until every pod was new and ready again, a node that went being back.
- **images**: the first letters of the ids of `aldebaran/service` and `aldebaran/spark`, at the end;
  cells without them were played before Nov 25.
"""
_TITLES: Final = (
    *("what happens", "accepted", "again", "alerted", "arrived", "missing", "repeats"),
    *("p50", "p99", "worst", "whole", "images"),
)


class Playable(Protocol):
    """A cell that can be played."""

    @property
    def title(self) -> str:
        """The cell in words."""

    def play(self) -> Outcome:
        """Return what it came to."""


@dataclass
class ClusterReport:
    """All cells so far, by how the auditors run; kept as JSON beside the page."""

    path: Path | None
    facts: dict[str, str] = field(default_factory=dict)
    cells: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    speed: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path | None) -> "ClusterReport":
        """Return what earlier runs wrote, or an empty report."""
        kept = path.with_suffix(".json") if path else None
        return cls(path, **(json.loads(kept.read_text("utf-8")) if kept and kept.exists() else {}))

    def played(self, runner: str, trial: Playable) -> Outcome:
        """Play a cell and take it in, in the place of an earlier one of the same title.

        One that cannot be played to its end is taken in too, with the error, which is raised again.
        """
        try:
            outcome = trial.play()
        except (Exception, pytest.fail.Exception) as problem:
            said = f"{type(problem).__name__}: {problem}"[:500]
            self._add(runner, {"title": trial.title, "problem": said})
            raise
        self._add(runner, asdict(outcome))
        return outcome

    def _add(self, runner: str, cell: dict[str, Any]) -> None:
        self.cells.setdefault(runner, {})[cell["title"]] = cell
        self.write()

    def write(self) -> None:
        """Write both files, if one was named."""
        if self.path is not None:
            kept = {name: getattr(self, name) for name in ("facts", "cells", "speed", "notes")}
            self.path.with_suffix(".json").write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
            self.path.write_text("\n".join(self._lines()) + "\n", "utf-8")

    def _lines(self) -> Iterator[str]:
        yield _HEAD.format(deliverers=UNSURE_DELIVERERS, held=UNSURE_DELIVERERS * SENDS_AT_ONCE)
        yield self._sum() + "\n"
        yield from (f"- {name}: {fact}" for name, fact in self.facts.items())
        for runner, cells in self.cells.items():
            yield f"\n## auditor.runner: {runner}\n"
            yield f"| {' | '.join(_TITLES)} |"
            yield "|---" + "|--:" * (len(_TITLES) - 1) + "|"
            yield from map(shown, cells.values())
            for cell in cells.values():
                yield from share_lines(cell)
        for title, speed in self.speed.items():
            yield from speed_lines(title, speed)
        yield ""
        yield from (f"- {name}: {note}" for name, note in self.notes.items())

    def _sum(self) -> str:
        cells = [cell for cells in self.cells.values() for cell in cells.values()]
        ended = [cell for cell in cells if "problem" not in cell]
        counts = [Counts(**cell["counts"]) for cell in ended]
        wrong = len(cells) - sum(each.right for each in counts)
        return in_one_line(len(cells), wrong, sum(cell["accepted"] for cell in ended), counts)


def shown(cell: dict[str, Any]) -> str:
    """Return one line of the table."""
    if problem := cell.get("problem"):
        said = " ".join(problem.replace("|", "/").split())
        return f"| {cell['title']} | **{said}** {'| ' * (len(_TITLES) - 2)}|"
    counts = Counts(**cell["counts"])
    kinds = ((counts.repeats_marked, "m"), (counts.repeats_same_key, "k"), (counts.held, "h"))
    values = (
        cell["title"],
        f"{cell['accepted']:,}",
        f"{cell['sent_again']:,}",
        f"{counts.alerted:,} of {counts.expected:,}",
        f"{counts.arrived:,}",
        f"{counts.missing}",
        (" ".join(f"{number}{kind}" for number, kind in kinds if number) or "0")
        + ("" if counts.right else f" **wrong: {counts}**"),
        *(_ms(cell[f"latency_{name}_ms"]) for name in ("p50", "p99", "max")),
        f"{cell['whole_seconds']:g} s",
        cell.get("images", ""),
    )
    return f"| {' | '.join(values)} |"


def _ms(latency: int | None) -> str:
    return "never" if latency is None else f"{latency:,} ms"


def share_lines(cell: dict[str, Any]) -> Iterator[str]:
    """Return what each pod did while a cell with several of a kind was played."""
    if not (shares := cell.get("shares")):
        return
    yield f"\n{cell['title']}: events, alerts and deliveries of each pod until all had some:\n"
    for component, did in shares.items():
        yield f"- {component}: {', '.join(map(str, did))}"
    if shrunk := cell.get("shrunk_seconds"):
        yield f"- the pod that was added was gone {shrunk:g} s later, while events flowed"


def speed_lines(title: str, speed: dict[str, Any]) -> Iterator[str]:
    """Return the section about one measurement."""
    yield f"\n## Speed: auditor.runner {title}\n"
    yield "From the moment an event was meant to leave to its alert in a reader's hands, in a pod."
    if "echo" in speed["rows"]:
        yield "*Echo* went straight through the broker at the same moments."
    yield f"{speed['probes']} probes, {speed['missing']} missing; load {speed['load']}.\n"
    names = ("p50", "p99", "p99.9", "max")
    yield f"| ms | {' | '.join(names)} |"
    yield "|---" + "|--:" * len(names) + "|"
    for row, values in speed["rows"].items():
        yield f"| {row} | " + " | ".join(f"{values[name]:g}" for name in names) + " |"
    yield ""
    for auditor in sorted({pause["auditor"] for pause in speed["pauses"]}):
        yield pauses_line(auditor, [each for each in speed["pauses"] if each["auditor"] == auditor])


def pauses_line(auditor: str, pauses: Sequence[dict[str, Any]]) -> str:
    """Return how long an auditor stood still at each boundary, and what the longest went into."""
    all_ms = ", ".join(f"{pause['ms']}" for pause in pauses)
    longest = max(pauses, key=lambda pause: int(pause["ms"]))
    parts = ", ".join(f"{name} {took}" for name, took in sorted(longest["parts"].items()))
    return f"- boundaries of {auditor}: {all_ms} ms; the longest: {parts}"
