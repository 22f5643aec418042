"""Routing against a model that is written as a person would say it."""

import re
from fnmatch import translate

from hypothesis import given
from hypothesis import strategies as st

from services.contracts.records import Alert, Severity
from services.lookout.matching import Match
from services.lookout.routing import DEFAULT, Route, Routes, Target, decide
from tests.unit.lookout.samples import alerts, matches, routes, sample, targets


def model_fits(match: Match, alert: Alert) -> bool:
    def one_of(patterns: tuple[str, ...], text: str | None) -> bool:
        return text is not None and any(re.match(translate(each), text) for each in patterns)

    fits_watch = match.watch is None or one_of(match.watch, alert.watch)
    fits_severity = match.severity is None or alert.severity in match.severity
    labels = dict(match.labels)
    return (
        fits_watch and fits_severity and all(one_of(labels[n], alert.labels.get(n)) for n in labels)
    )


def model(all_routes: list[Route], default: tuple[Target, ...], alert: Alert) -> set[Target]:
    told: set[Target] = set()
    names = 0
    for route in all_routes:
        if model_fits(route.match, alert):
            told |= set(route.targets)
            names += 1
            if not route.goes_on:
                return told
    return told if names else set(default)


@given(routes(), targets(), alerts())
def test_who_is_told_is_what_the_model_says(
    all_routes: list[Route], default: tuple[Target, ...], alert: Alert
) -> None:
    decision = decide(Routes(tuple(all_routes), default), alert)
    assert set(decision.targets) == model(all_routes, default, alert)
    assert len(set(decision.targets)) == len(decision.targets), "each recipient once"
    assert decision.targets, "an alert is never silent"
    assert decision.routed_by, "what was decided has a name"


@given(matches(), matches(), st.lists(alerts(), max_size=30))
def test_what_covers_another_fits_whatever_that_fits(
    one: Match, other: Match, found: list[Alert]
) -> None:
    if one.covers(other):
        assert all(one.fits(alert) for alert in found if other.fits(alert))


@given(matches())
def test_a_match_covers_itself_and_any_is_covered_by_the_empty_one(match: Match) -> None:
    assert match.covers(match)
    assert Match().covers(match)
    assert Match(watch=("*",), severity=frozenset(Severity)).covers(match)


def test_the_default_is_recorded_by_name() -> None:
    decision = decide(Routes((), (Target("bus", "notifications"),)), sample())
    assert decision.routed_by == (DEFAULT,)


def test_a_label_that_is_missing_or_null_fits_no_pattern() -> None:
    match = Match(labels=(("zone", ("*",)),))
    assert not match.fits(sample())
    assert not match.fits(sample(labels={"zone": None}))
    assert match.fits(sample(labels={"zone": ""}))
