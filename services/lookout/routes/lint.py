"""What is allowed in a routes file and yet hardly meant; each warning says what to do."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from services.contracts.records import Severity
from services.lookout.routes.dead_routes import dead_routes
from services.lookout.routes.problems import Finding, Problem
from services.lookout.routes.reading import Checked
from services.lookout.routes.send_part import NO_QUIET, REPEATS_LIMIT
from services.lookout.routes.tree import Spot, holders, sends, spots
from services.lookout.routes.unused import unused


@dataclass(frozen=True)
class Surroundings:
    """What a file is held against: the time, the settings' variables, the declared watches."""

    now: datetime
    variables: Collection[str] = ()
    watches: Collection[str] | None = None
    """None where it is not known which watches there are."""


def lint(checked: Checked, around: Surroundings) -> list[Problem]:
    """Return warnings about a file in which nothing is wrong, by line."""
    found = [finding for rule in _RULES for finding in rule(checked, around)]
    found += unused(checked, around.variables)
    found += dead_routes(checked.part, checked.known, around.now, around.watches)
    problems = {Problem(checked.document.line(place), reason) for place, reason in found}
    return sorted(problems, key=lambda each: (each.line, each.reason))


def _unreachable_people(checked: Checked, _: Surroundings) -> Iterator[Finding]:
    channels = checked.known.channels
    for name, reach in checked.part.people.items():
        missing = [channel for channel in reach if channel not in channels]
        if len(missing) == len(reach):
            known = ", ".join(missing)
            yield ("people", name), f"{name} has no channel in use: add one of {known}" + _SETTING
            continue
        for channel in missing:
            told = f"{name} is never told by {channel}: it is not in use, add it" + _SETTING
            yield ("people", name, channel), told


def _endless_escalations(checked: Checked, _: Surroundings) -> Iterator[Finding]:
    for name, steps in checked.part.escalations.items():
        for number, step in enumerate(steps):
            if step.repeat is not None and step.repeat.times == REPEATS_LIMIT:
                yield (
                    ("escalations", name, number, "repeat"),
                    f"repeats {REPEATS_LIMIT} times, practically without end: give it `times`",
                )


def _useless_fallbacks(checked: Checked, _: Surroundings) -> Iterator[Finding]:
    for place, send in sends(checked.part):
        own = {choices[0].channel for choices in checked.known.targets(send)}
        for index, fallback in enumerate(send.fallback):
            for choices in checked.known.targets(fallback):
                if choices[0].channel in own:
                    yield (
                        (*place, "fallback", index),
                        f"falls back to the same channel, {choices[0].channel}: "
                        "what makes one fail often makes both fail",
                    )


def _old_silences(checked: Checked, around: Surroundings) -> Iterator[Finding]:
    for index, silence in enumerate(checked.part.silences):
        if silence.ends_at is not None and silence.ends_at <= around.now:
            yield (
                ("silences", index),
                f"silence {silence.name!r} is over since {silence.ends_at}: take it out",
            )


def _quiet_critical(checked: Checked, _: Surroundings) -> Iterator[Finding]:
    spared = {spot.place for spot in spots(checked.part.routes) if not _takes_critical(spot)}
    for place, holder in holders(checked.part):
        route = place[:-2] if place[-2:-1] == ("send",) else place
        quiet = holder.quiet
        if quiet is None or quiet is NO_QUIET or route in spared:
            continue
        if Severity.CRITICAL not in (quiet.unless or ()):
            yield (
                (*place, "quiet"),
                "holds back critical alerts too; if it should not, add `unless: critical`",
            )


def _takes_critical(spot: Spot) -> bool:
    wanted = [each.match.severity for each in (*spot.above, spot.part)]
    return all(each is None or Severity.CRITICAL in each for each in wanted)


_SETTING: Final = " to ALDEBARAN_CHANNELS"

Rule = Callable[[Checked, Surroundings], Iterator[Finding]]

_RULES: Final[tuple[Rule, ...]] = (
    _unreachable_people,
    _endless_escalations,
    _useless_fallbacks,
    _old_silences,
    _quiet_critical,
)
