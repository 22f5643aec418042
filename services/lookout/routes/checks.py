"""What a routes file must not say: names used twice, nobody told, routes that are never asked."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final

from services.lookout.matching import Match
from services.lookout.routes.declared import Declared
from services.lookout.routes.nodes import Path as Place
from services.lookout.routes.part import NOTHING
from services.lookout.routes.parts import (
    ROUTES_DEPTH_LIMIT,
    ROUTES_LIMIT,
    TARGETS_LIMIT,
    FilePart,
    RoutePart,
    SilencePart,
)
from services.lookout.routes.problems import Finding
from services.lookout.routes.tree import Spot, quiets, recipients, spots
from services.lookout.routing import DEFAULT
from services.lookout.week_times import WeekTimes

_RESERVED: Final = (DEFAULT, NOTHING)
_ANY_WEEK: Final = datetime(2026, 1, 5, tzinfo=UTC)


def checks(part: FilePart, declared: Declared) -> Iterator[Finding]:
    """Return what is wrong with a file in which everything that is named is there."""
    routes = list(spots(part.routes))
    if len(routes) > ROUTES_LIMIT:
        yield ("routes",), f"over {ROUTES_LIMIT} routes in one file"
    if deep := next((each for each in routes if len(each.above) >= ROUTES_DEPTH_LIMIT), None):
        yield deep.place, f"routes are nested over {ROUTES_DEPTH_LIMIT} deep"
    yield from _wrong_names(routes)
    yield from _nobody_told(routes)
    yield from _unreachable(("routes",), part.routes, declared)
    yield from _endless_quiet(part, declared)
    yield from _wrong_steps(part)
    yield from _wrong_rules(part, declared)
    told = (targets for _, each in recipients(part) for targets in declared.targets(each))
    if len({target for targets in told for target in targets}) > TARGETS_LIMIT:
        yield ("routes",), f"over {TARGETS_LIMIT} different recipients in one file"


def _wrong_names(routes: Sequence[Spot]) -> Iterator[Finding]:
    seen: set[str] = set()
    for spot in routes:
        name = spot.part.name
        if name in seen or name in _RESERVED:
            reason = "is reserved" if name in _RESERVED else "is used by a route above"
            yield (*spot.place, "name"), f"the name {name!r} {reason}"
        seen.add(name)


def _nobody_told(routes: Sequence[Spot]) -> Iterator[Finding]:
    for spot in routes:
        if all(each.send is None for each in (*spot.above, spot.part)):
            yield (
                spot.place,
                (f"route {spot.part.name!r} tells nobody: give it `send`, or a route around it"),
            )


def _unreachable(
    place: Place, siblings: Sequence[RoutePart], declared: Declared
) -> Iterator[Finding]:
    ends: list[tuple[RoutePart, Match]] = []
    for index, part in enumerate(siblings):
        match = part.match.match(declared.times)
        taker = next((each for each, taken in ends if taken.covers(match)), None)
        if taker is not None:
            reason = f"route {part.name!r} is never reached: {taker.name!r} above takes all"
            yield (*place, index), f"{reason} its alerts and does not continue"
        if not part.goes_on:
            ends.append((part, match))
        yield from _unreachable((*place, index, "routes"), part.routes, declared)


def _endless_quiet(part: FilePart, declared: Declared) -> Iterator[Finding]:
    for place, quiet in quiets(part):
        for name in quiet.names():
            times = declared.times[name] if name == quiet.during else declared.times[name].outside()
            if _endless(times):
                yield place, f"{times} never ends: nothing would ever be sent"


def _endless(times: WeekTimes) -> bool:
    whole_week = times.contains(_ANY_WEEK) and times.until_outside(_ANY_WEEK) is None
    return bool(times.parts) and whole_week


def _wrong_steps(part: FilePart) -> Iterator[Finding]:
    for name, steps in part.escalations.items():
        for number, (before, step) in enumerate(pairwise(steps), start=1):
            if step.after <= before.after:
                place = ("escalations", name, number, "after")
                yield (
                    place,
                    (
                        "`after` counts from the alert: write more than the step before has "
                        f"({before.after:g}s)"
                    ),
                )


def _wrong_rules(part: FilePart, declared: Declared) -> Iterator[Finding]:
    yield from _used_twice("inhibit", [each.name for each in part.inhibit])
    yield from _used_twice("silences", [each.name for each in part.silences])
    for index, silence in enumerate(part.silences):
        if wrong := _wrong_span(silence, declared):
            yield ("silences", index), f"silence {silence.name!r} {wrong}"


def _used_twice(key: str, names: Sequence[str]) -> Iterator[Finding]:
    for index, name in enumerate(names):
        if name in names[:index]:
            yield (key, index, "name"), f"the name {name!r} is used above"


def _wrong_span(silence: SilencePart, declared: Declared) -> str | None:
    times = declared.times.get(silence.during or "")
    if times is not None and silence.ends_at is None and _endless(times):
        return "never ends: give it `to`"
    if silence.during is None and (silence.starts_at is None or silence.ends_at is None):
        return "needs `from` and `to`, or `during`: a silence has an end"
    if silence.starts_at and silence.ends_at and silence.starts_at >= silence.ends_at:
        return "ends before it begins"
    return None
