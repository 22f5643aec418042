"""Routing: from an alert to who is told, a pure function of the routes, the alert and a moment."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from services.contracts.records import Alert, Severity
from services.lookout.matching import Match
from services.lookout.week_times import SEARCH_DAYS, WeekTimes

DEFAULT: Final = "default"
"""Name under which alerts are recorded that no route was for."""


@dataclass(frozen=True, slots=True)
class Target:
    """One recipient on one channel."""

    channel: str
    recipient: str


@dataclass(frozen=True, slots=True)
class Quiet:
    """Times at which a recipient is left alone, unless the alert is of these severities.

    With `others`, those of further routes, it is quiet only while each of them is.
    """

    times: WeekTimes
    unless: frozenset[Severity] = frozenset()
    others: tuple["Quiet", ...] = ()

    @property
    def name(self) -> str:
        """The name that people know the times by."""
        return " and ".join(dict.fromkeys(str(each.times) for each in self.parts))

    @property
    def parts(self) -> tuple["Quiet", ...]:
        """What each route says by itself."""
        return (replace(self, others=()), *self.others)

    def joined(self, later: "Quiet") -> "Quiet":
        """Return the quiet that is while both are."""
        first, *others = dict.fromkeys((*self.parts, *later.parts))
        return replace(first, others=tuple(others))

    def spares(self, severity: Severity) -> bool:
        """Tell whether alerts of this severity are never held back."""
        return any(severity in each.unless for each in self.parts)

    def quiet_until(self, at: datetime) -> datetime | None:
        """Return when the quiet that is at this moment ends, in UTC; None if it is not quiet."""
        times = [each.times for each in self.parts]
        if not all(each.contains(at) for each in times):
            return None
        return min(each.until_outside(at) or at + timedelta(days=SEARCH_DAYS) for each in times)


@dataclass(frozen=True, slots=True)
class Grouping:
    """Alerts alike in `by` go to a recipient as one message, `wait_seconds` after the first.

    `by` holds `watch`, `severity`, `labels.<name>` and `key.<name>`; empty puts all into one.
    """

    by: tuple[str, ...]
    wait_seconds: float
    limit: int


@dataclass(frozen=True, slots=True)
class Instruction:
    """One recipient to tell, in which words, and when not.

    `template` None means the channel's own default text. `fallback` are asked in sequence after
    the target has refused for good, and with `fallback_on_held` also after a message that was
    tried waits for a person. From `asked_at` the age of a message after intake counts. What its
    recipients were told before `since`, if that is set, is another message.
    """

    target: Target
    route: str
    template: str | None = None
    fallback: tuple[Target, ...] = ()
    fallback_on_held: bool = False
    quiet: Quiet | None = None
    grouping: Grouping | None = None
    asked_at: datetime | None = None
    since: datetime | None = None

    def quiet_for(self, severity: Severity) -> bool:
        """Tell whether there are times at which an alert of this severity is held back."""
        return self.quiet is not None and not self.quiet.spares(severity)

    def ungrouped(self) -> "Instruction":
        """Return it for what has waited for its group already, or is not to wait for one."""
        return replace(self, grouping=None)


@dataclass(frozen=True, slots=True)
class Route:
    """Who is told of which alerts; the routes inside are asked first, the node acts if none fits.

    Siblings below are asked too only where it `goes_on`. What it inherits is filled in already.
    """

    name: str
    match: Match
    instructions: tuple[Instruction, ...]
    goes_on: bool = False
    escalation: str | None = None
    routes: tuple["Route", ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """What happens `after_seconds` from the alert's coming, if nobody has acknowledged it by then.

    It is repeated `repeat_times` more, `repeat_every_seconds` apart, each span `slower` times
    the one before.
    """

    after_seconds: float
    instructions: tuple[Instruction, ...]
    repeat_every_seconds: float | None = None
    repeat_times: int = 0
    slower: float = 1.0


@dataclass(frozen=True, slots=True)
class Escalation:
    """Who is told when nobody acknowledges; each step is later than the one before."""

    name: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Inhibition:
    """While a `source` alert is fresh, `muted` alerts that are alike in `equal` are held back."""

    name: str
    source: Match
    muted: Match
    equal: tuple[str, ...]
    for_seconds: float


@dataclass(frozen=True, slots=True)
class SilenceRule:
    """A maintenance window of the file: from one moment to another, or in some times of the week.

    With both, it is silent at those times between the two moments. `starts_at` is inside.
    """

    name: str
    match: Match
    author: str
    reason: str
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    during: WeekTimes | None = None

    def silent_until(self, at: datetime) -> datetime | None:
        """Return when the silence that is at this moment ends, in UTC; None if there is none."""
        if self.starts_at is not None and at < self.starts_at:
            return None
        if self.ends_at is not None and at >= self.ends_at:
            return None
        ends = [self.ends_at] if self.ends_at else []
        if self.during is not None:
            if not self.during.contains(at):
                return None
            ends.append(self.during.until_outside(at) or at + timedelta(days=SEARCH_DAYS))
        return min(ends, default=at + timedelta(days=SEARCH_DAYS))


@dataclass(frozen=True, slots=True)
class Person:
    """A person: one recipient per channel, in the sequence of the file."""

    name: str
    targets: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class Template:
    """The words of one kind of message, as Jinja texts."""

    name: str
    subject: str
    text: str


@dataclass(frozen=True, slots=True)
class Routes:
    """All that one routes file says; `version_id` is a digest of it and of what it includes."""

    roots: tuple[Route, ...]
    default: tuple[Instruction, ...]
    default_escalation: str | None = None
    version_id: str = ""
    times: Mapping[str, WeekTimes] = field(default_factory=dict)
    people: Mapping[str, Person] = field(default_factory=dict)
    templates: Mapping[str, Template] = field(default_factory=dict)
    escalations: Mapping[str, Escalation] = field(default_factory=dict)
    inhibitions: tuple[Inhibition, ...] = ()
    silences: tuple[SilenceRule, ...] = ()


@dataclass(frozen=True, slots=True)
class Considered:
    """One route that was asked, how deep it stands in the tree, and why it is for the alert or not.

    A route that fits acts unless one inside it does.
    """

    route: str
    fits: bool
    why: str
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """Who is told of one alert, each once; the names of the routes that said so; how it came."""

    routed_by: tuple[str, ...]
    considered: tuple[Considered, ...]
    instructions: tuple[Instruction, ...]
    escalations: tuple[str, ...] = ()

    @property
    def targets(self) -> tuple[Target, ...]:
        """The recipients."""
        return tuple(each.target for each in self.instructions)


def decide(routes: Routes, alert: Alert, at: datetime) -> Plan:
    """Return who is told of this alert at this moment; somebody always is."""
    considered: list[Considered] = []
    acting = _acting(routes.roots, alert, at, considered)
    if not acting:
        acting = [Route(DEFAULT, Match(), routes.default, escalation=routes.default_escalation)]
    told = (each for route in acting for each in route.instructions)
    begun = dict.fromkeys(route.escalation for route in acting if route.escalation is not None)
    return Plan(
        routed_by=tuple(route.name for route in acting),
        considered=tuple(considered),
        instructions=each_once(told, alert.severity),
        escalations=tuple(begun),
    )


def each_once(told: Iterable[Instruction], severity: Severity) -> tuple[Instruction, ...]:
    """Join instructions for the same target: the first counts, but what any sends at once is."""
    joined: dict[Target, Instruction] = {}
    for each in told:
        first = joined.get(each.target)
        joined[each.target] = _joined(first, each, severity) if first else each
    return tuple(joined.values())


def _joined(first: Instruction, later: Instruction, severity: Severity) -> Instruction:
    quiet = first.quiet and later.quiet and first.quiet.joined(later.quiet)
    return replace(
        first,
        quiet=None if quiet is None or quiet.spares(severity) else quiet,
        grouping=first.grouping if later.grouping else None,
        fallback=first.fallback or later.fallback,
        fallback_on_held=(first if first.fallback else later).fallback_on_held,
    )


def _acting(
    routes: Iterable[Route],
    alert: Alert,
    at: datetime,
    considered: list[Considered],
    depth: int = 0,
) -> list[Route]:
    """Ask routes from top to bottom, and inside those that fit; note each that was asked."""
    acting: list[Route] = []
    for route in routes:
        misfit = route.match.misfit(alert, at)
        why = misfit or "all its conditions hold"
        considered.append(Considered(route.name, misfit is None, why, depth))
        if misfit is None:
            acting += _acting(route.routes, alert, at, considered, depth + 1) or [route]
            if not route.goes_on:
                break
    return acting
