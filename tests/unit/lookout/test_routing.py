"""Routing against a model that is written as a person would say it."""

import re
from fnmatch import translate
from itertools import pairwise
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from services.contracts.records import Alert, Severity
from services.lookout.matching import Match
from services.lookout.routing import (
    DEFAULT,
    Grouping,
    Instruction,
    Quiet,
    Route,
    Routes,
    Target,
    decide,
    each_once,
)
from services.lookout.week_times import WeekPart, WeekTimes
from tests.unit.lookout.samples import NOON, alerts, instructions, matches, routes, sample, told

DESK = Target("email", "desk@example.com")
QUIET = Quiet(WeekTimes("night", ()).outside(), frozenset({Severity.CRITICAL}))


def model_fits(match: Match, alert: Alert) -> bool:
    def one_of(patterns: tuple[str, ...], text: str | None) -> bool:
        return text not in ("", None) and any(re.match(translate(each), text) for each in patterns)

    fits_watch = match.watch is None or one_of(match.watch, alert.watch)
    fits_severity = match.severity is None or alert.severity in match.severity
    labels = dict(match.labels)
    return (
        fits_watch and fits_severity and all(one_of(labels[n], alert.labels.get(n)) for n in labels)
    )


def model(siblings: tuple[Route, ...], alert: Alert) -> list[Route]:
    """The last route on each way down; siblings below are asked only if one goes on."""
    for number, route in enumerate(siblings):
        if model_fits(route.match, alert):
            deepest = model(route.routes, alert) or [route]
            return deepest + (model(siblings[number + 1 :], alert) if route.goes_on else [])
    return []


@given(routes(), instructions(), alerts())
def test_who_is_told_is_what_the_model_says(
    tree: list[Route], default: tuple[Instruction, ...], alert: Alert
) -> None:
    plan = decide(Routes(tuple(tree), default), alert, NOON)
    acting = model(tuple(tree), alert)
    expected = [each for route in acting for each in route.instructions] or default
    assert set(plan.targets) == {each.target for each in expected}
    assert plan.routed_by == (tuple(route.name for route in acting) or (DEFAULT,))
    assert len(set(plan.targets)) == len(plan.targets), "each recipient once"
    assert plan.targets, "an alert is never silent"


@given(routes(), alerts())
def test_every_route_that_was_asked_is_noted_with_a_reason(tree: list[Route], alert: Alert) -> None:
    considered = decide(Routes(tuple(tree), ()), alert, NOON).considered
    assert all(each.why for each in considered)
    top = [each for each in considered if each.depth == 0]
    assert [each.route for each in top] == [route.name for route in tree[: len(top)]]
    assert [each.fits for each in top] == [model_fits(each.match, alert) for each in tree][
        : len(top)
    ]
    for before, each in pairwise(considered):
        assert each.depth <= before.depth + before.fits


@given(matches(), matches(), st.lists(alerts(), max_size=30))
def test_what_covers_another_fits_whatever_that_fits(
    one: Match, other: Match, found: list[Alert]
) -> None:
    if one.covers(other):
        assert all(one.fits(alert, NOON) for alert in found if other.fits(alert, NOON))


@given(matches())
def test_a_match_covers_itself_and_any_is_covered_by_the_empty_one(match: Match) -> None:
    assert match.covers(match)
    assert Match().covers(match)
    assert Match(watch=("*",), severity=frozenset(Severity)).covers(match)


def test_the_default_is_recorded_by_name_and_may_escalate() -> None:
    plan = decide(Routes((), told(DEFAULT, DESK), default_escalation="night"), sample(), NOON)
    assert plan.routed_by == (DEFAULT,)
    assert plan.escalations == ("night",)


def test_a_label_that_is_missing_null_or_empty_fits_no_pattern() -> None:
    match = Match(labels=(("zone", ("*",)),))
    for without in ({}, {"zone": None}, {"zone": ""}):
        assert match.misfit(sample(labels=without), NOON) == "the alert has no label zone"
    assert match.fits(sample(labels={"zone": "x"}), NOON)


def test_what_one_route_sends_at_once_no_other_route_holds_back() -> None:
    grouping = Grouping(("watch",), 30, 100)
    held = Instruction(DESK, "a", quiet=QUIET, grouping=grouping)
    at_once = Instruction(DESK, "b", fallback=(Target("bus", "x"),))
    assert each_once([held, held], Severity.INFO) == (held,)
    assert each_once([held, at_once], Severity.INFO) == (
        Instruction(DESK, "a", fallback=(Target("bus", "x"),)),
    )
    (joined,) = each_once([held, held], Severity.CRITICAL)
    assert not joined.quiet_for(Severity.CRITICAL)


def hours(name: str, start: int, end: int) -> Quiet:
    """Return quiet hours of every day, in UTC."""
    part = WeekPart(frozenset(range(7)), start * 60, end * 60, ZoneInfo("UTC"))
    return Quiet(WeekTimes(name, (part,)))


@given(
    st.permutations([hours("night", 22, 8), hours("morning", 6, 12), hours("early", 4, 7)]),
    st.integers(0, 23),
)
def test_what_several_routes_hold_back_waits_only_while_each_does(
    quiets: list[Quiet], hour: int
) -> None:
    told = [Instruction(DESK, f"r{number}", quiet=quiet) for number, quiet in enumerate(quiets)]
    (joined,) = each_once(told, Severity.INFO)
    assert joined.quiet is not None
    at = NOON.replace(hour=hour)
    assert joined.quiet.quiet_until(at) == (NOON.replace(hour=7) if hour == 6 else None)
    assert set(joined.quiet.name.split(" and ")) == {"night", "morning", "early"}
