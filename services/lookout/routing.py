"""Routing: from an alert to who is told, a pure function of the routes."""

from dataclasses import dataclass
from typing import Final

from services.contracts.records import Alert
from services.lookout.matching import Match

DEFAULT: Final = "default"
"""Name under which alerts are recorded that no route was for."""


@dataclass(frozen=True, slots=True)
class Target:
    """One recipient on one channel."""

    channel: str
    recipient: str


@dataclass(frozen=True, slots=True)
class Route:
    """Who is told of which alerts; the routes below are asked too only where it `goes_on`."""

    name: str
    match: Match
    targets: tuple[Target, ...]
    goes_on: bool = False


@dataclass(frozen=True, slots=True)
class Routes:
    """All routes from top to bottom, and who is told when none is for an alert."""

    routes: tuple[Route, ...]
    default: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """Who is told of one alert, each once, and the names of the routes that said so."""

    routed_by: tuple[str, ...]
    targets: tuple[Target, ...]


def decide(routes: Routes, alert: Alert) -> Decision:
    """Return who is told of this alert; somebody always is."""
    matched = _matched(routes, alert)
    if not matched:
        return Decision((DEFAULT,), tuple(dict.fromkeys(routes.default)))
    targets = dict.fromkeys(target for route in matched for target in route.targets)
    return Decision(tuple(route.name for route in matched), tuple(targets))


def _matched(routes: Routes, alert: Alert) -> list[Route]:
    matched = []
    for route in routes.routes:
        if route.match.fits(alert):
            matched.append(route)
            if not route.goes_on:
                break
    return matched
