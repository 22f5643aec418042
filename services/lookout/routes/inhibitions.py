"""Inhibitions that hold back nothing, whatever comes, or everything because a line is missing."""

from collections.abc import Iterator
from typing import Final

from services.lookout.matching import Match, Patterns, apart
from services.lookout.routes.declared import Declared
from services.lookout.routes.parts import FilePart, InhibitionPart
from services.lookout.routes.problems import Finding

_ALL: Final = (
    "holds back all that `mutes` takes for any one alert that `when` takes: name in `equal` what "
    "both are about, or write `equal: []`"
)


def odd_inhibitions(part: FilePart, known: Declared) -> Iterator[Finding]:
    """Return inhibitions that are hardly meant so."""
    for index, inhibition in enumerate(part.inhibit):
        when, mutes = inhibition.when.match(known.times), inhibition.mutes.match(known.times)
        if why := _idle(inhibition, when, mutes):
            told = f"inhibition {inhibition.name!r} never holds anything back: {why}"
            yield ("inhibit", index), told
        elif _holds_all(inhibition):
            yield ("inhibit", index), f"inhibition {inhibition.name!r} {_ALL}"


def _idle(inhibition: InhibitionPart, when: Match, mutes: Match) -> str | None:
    if when.covers(mutes):
        return "`when` takes all that `mutes` takes, and what `when` takes is not held back"
    for field in inhibition.equal:
        if _differ(field, when, mutes):
            return f"`when` and `mutes` take others by {field}, which `equal` wants alike"
    return None


def _differ(field: str, when: Match, mutes: Match) -> bool:
    """Tell whether two conditions surely take no alerts with the same value of a field."""
    if field == "severity":
        return bool(when.severity and mutes.severity and not when.severity & mutes.severity)
    return apart(_wanted(field, when), _wanted(field, mutes))


def _wanted(field: str, match: Match) -> Patterns | None:
    section, _, name = field.partition(".")
    if section == "watch":
        return match.watch
    return dict(match.labels).get(name) if section == "labels" else None


def _holds_all(inhibition: InhibitionPart) -> bool:
    """An `equal` that is left out is meant where `when` says of what all else is a consequence."""
    left_out = "equal" not in inhibition.model_fields_set
    return left_out and inhibition.when.watch is None and not inhibition.when.labels
