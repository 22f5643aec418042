"""When to kill which part of an engine that is measured, and what that cost: pure decisions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tests.bench.engine import Kill
from tests.bench.percentiles import Latency, summary
from tests.bench.probe import Found

BOUNDARY_MARGIN_NS: Final = 1_000_000_000
IN_STEP_NS: Final = 1_000_000_000
"""Who raises an alert so soon has caught up."""
KILL_EVERY_SECONDS: Final = 75.0
FIRST_KILL_SECONDS: Final = 5.0
"""Probes have begun by then."""
RECOVERY_SECONDS: Final = 45.0
"""Kept free behind each kill: to start, and to catch up."""
CATCHING_UP_SECONDS: Final = 15.0
GOLDEN: Final = 0.618034
"""Its multiples, less their whole parts, never come near to a period of anything."""

DEAD: Final = "dead"
STARTING: Final = "starting"
ALONE: Final = "alone at a boundary"
STAGES: Final = (DEAD, STARTING, ALONE)


@dataclass(frozen=True, slots=True)
class Planned:
    """Kill part number `part`, so long after the measuring began."""

    at_seconds: float
    part: int


def planned(seconds: float, parts: int) -> list[Planned]:
    """Return the kills of a run: parts in turn, each in a stretch of its own, at odd moments."""
    count = max(1, int(seconds // KILL_EVERY_SECONDS))
    stretch = seconds / count
    spare = max(0.0, stretch - FIRST_KILL_SECONDS - RECOVERY_SECONDS)
    return [
        Planned(number * stretch + FIRST_KILL_SECONDS + (number + 1) * GOLDEN % 1 * spare, part)
        for number, part in enumerate(number % parts for number in range(count))
    ]


def due_seconds(plan: Planned, ready_seconds: float) -> float:
    """Return when to kill, given when the one killed before was ready: it catches up first."""
    return max(plan.at_seconds, ready_seconds + CATCHING_UP_SECONDS)


@dataclass(frozen=True)
class Beside:
    """Probes' alerts, and the echoes of the same probes."""

    alert: Latency
    echo: Latency


@dataclass(frozen=True)
class Kills:
    """What the kills of one row cost.

    `away_seconds` is from each kill until the killed one raised alerts within a second of their
    probes again; None where the run ended before. `boundaries_alone` were met meanwhile. `stages`
    holds the probes that were sent meanwhile, by what the killed one was: dead until it was started
    again, then starting. Whoever was sent since a boundary (of either, a second before the kill or
    later), or a second before one, or waited over one, counts as alone at a boundary.
    """

    away_seconds: list[float | None]
    boundaries_alone: int
    stages: dict[str, Beside]


@dataclass(frozen=True, slots=True)
class Away:
    """From when until when one was out of step; without an end, it still was when the run ended."""

    killed_ns: int
    started_ns: int
    in_step_ns: int | None

    def covers(self, at_ns: int) -> bool:
        """Tell whether it was away then."""
        return self.killed_ns <= at_ns and (self.in_step_ns is None or at_ns < self.in_step_ns)

    def seconds(self) -> float | None:
        """Return how long it was away."""
        if self.in_step_ns is None:
            return None
        return round((self.in_step_ns - self.killed_ns) / 1e9, 1)


def away(kill: Kill, found: Found) -> Away:
    """Return how long the killed one was away, from the probes that were sent since its start."""
    in_step = [
        at
        for index, at in found.raised_ns.get(kill.who, {}).items()
        if kill.started_ns < found.intended_ns[index] >= at - IN_STEP_NS
    ]
    return Away(kill.at_ns, kill.started_ns, min(in_step, default=None))


def stage(sent_ns: int, raised_ns: int, one: Away, ends_ns: Sequence[int]) -> str | None:
    """Return what the killed one was when a probe was sent; None if it was not away.

    Who stands still reads nothing until its batch has ended, however long that takes: a probe that
    was raised behind a boundary has waited for it.
    """
    if not one.covers(sent_ns):
        return None
    since = one.killed_ns - BOUNDARY_MARGIN_NS
    until = max(sent_ns + BOUNDARY_MARGIN_NS, raised_ns)
    if any(since <= end <= until for end in ends_ns):
        return ALONE
    return DEAD if sent_ns < one.started_ns else STARTING


def kills_of(found: Found, kills: Sequence[Kill], ends_ns: Sequence[int]) -> Kills | None:
    """Return what the kills cost; None without any."""
    if not kills:
        return None
    aways = [away(kill, found) for kill in kills]
    staged: dict[str, list[int]] = {}
    for index, sent in found.intended_ns.items():
        raised = found.alert_ns.get(index, sent)
        for each in {stage(sent, raised, one, ends_ns) for one in aways} - {None}:
            staged.setdefault(str(each), []).append(index)
    return Kills(
        away_seconds=[one.seconds() for one in aways],
        boundaries_alone=sum(any(one.covers(end) for one in aways) for end in ends_ns),
        stages={each: _beside(found, staged[each]) for each in STAGES if each in staged},
    )


def _beside(found: Found, probes: Sequence[int]) -> Beside:
    alerts, echoes = found.alert_latencies(), found.echo_latencies()
    return Beside(
        summary([alerts[each] for each in probes if each in alerts]),
        summary([echoes[each] for each in probes if each in echoes]),
    )
