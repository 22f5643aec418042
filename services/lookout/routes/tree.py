"""A walk through the parts of a routes file, each with its place."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from services.lookout.routes.match_part import MatchPart
from services.lookout.routes.nodes import Path as Place
from services.lookout.routes.parts import FilePart, OptionsPart, RoutePart
from services.lookout.routes.send_part import GroupPart, QuietPart, SendPart, ToPart


@dataclass(frozen=True, slots=True)
class Spot:
    """One route: where it stands, and the routes around it from the outermost."""

    place: Place
    part: RoutePart
    above: tuple[RoutePart, ...] = ()


def spots(
    routes: Iterable[RoutePart], place: Place = ("routes",), above: tuple[RoutePart, ...] = ()
) -> Iterator[Spot]:
    """Return every route, outer ones first."""
    for index, part in enumerate(routes):
        here = (*place, index)
        yield Spot(here, part, above)
        yield from spots(part.routes, (*here, "routes"), (*above, part))


def options(part: FilePart) -> Iterator[tuple[Place, OptionsPart]]:
    """Return the default and every route."""
    yield ("default",), part.default
    yield from ((spot.place, spot.part) for spot in spots(part.routes))


def sends(part: FilePart) -> Iterator[tuple[Place, SendPart]]:
    """Return every item of every `send`."""
    for place, option in options(part):
        for index, send in enumerate(option.send or ()):
            yield (*place, "send", index), send
    for name, steps in part.escalations.items():
        for number, step in enumerate(steps):
            for index, send in enumerate(step.send):
                yield ("escalations", name, number, "send", index), send


def holders(part: FilePart) -> Iterator[tuple[Place, OptionsPart | SendPart]]:
    """Return all that may have quiet hours and a template of its own."""
    yield from options(part)
    yield from sends(part)


def recipients(part: FilePart) -> Iterator[tuple[Place, ToPart]]:
    """Return every item of every `send`, and its fallbacks."""
    for place, send in sends(part):
        yield place, send
        for index, fallback in enumerate(send.fallback):
            yield (*place, "fallback", index), fallback


def quiets(part: FilePart) -> Iterator[tuple[Place, QuietPart]]:
    """Return all quiet hours, those that take inherited ones back too."""
    for place, holder in holders(part):
        if holder.quiet is not None:
            yield (*place, "quiet"), holder.quiet


def groups(part: FilePart) -> Iterator[tuple[Place, list[MatchPart], GroupPart]]:
    """Return all groupings, each behind the conditions of the alerts that it is for."""
    if part.default.group is not None:
        yield ("default", "group"), [], part.default.group
    for spot in spots(part.routes):
        if spot.part.group is not None:
            conditions = [each.match for each in (*spot.above, spot.part)]
            yield (*spot.place, "group"), conditions, spot.part.group


def lines(part: FilePart) -> Iterator[tuple[Place, list[MatchPart]]]:
    """Return all conditions, each behind those of the routes around it."""
    for spot in spots(part.routes):
        yield (*spot.place, "match"), [each.match for each in (*spot.above, spot.part)]
    for index, inhibition in enumerate(part.inhibit):
        yield ("inhibit", index, "when"), [inhibition.when]
        yield ("inhibit", index, "mutes"), [inhibition.mutes]
    for index, silence in enumerate(part.silences):
        yield ("silences", index, "match"), [silence.match]


def matches(part: FilePart) -> Iterator[tuple[Place, MatchPart]]:
    """Return all conditions."""
    yield from ((place, line[-1]) for place, line in lines(part))
