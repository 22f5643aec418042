"""Alerts and routes for tests: a test states only what matters."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import strategies as st

from services.contracts.ids import alert_id
from services.contracts.records import Alert, Severity
from services.lookout.matching import Match
from services.lookout.routing import Instruction, Route, Target
from services.lookout.week_times import WeekTimes

WATCHES = ("over-limit", "over-heat", "cpu")
LABELS = ("client", "zone")
LABEL_VALUES = ("north", "south", "n*")
NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)
"""A Wednesday."""


def sample(number: int = 1, **changes: Any) -> Alert:
    """Return a valid alert; the number makes its id."""
    watch = changes.get("watch", "over-limit")
    given: dict[str, Any] = {
        "alert_id": alert_id(watch, [str(number)]),
        "watch": watch,
        "severity": Severity.CRITICAL,
        "summary": f"finding {number}",
        "key": {"id": str(number)},
        "appended_at_ms": 1_795_253_400_125,
        "detected_at_ms": 1_795_253_400_128,
        "auditor": "a",
    }
    return Alert(**given | changes)


def moments_asked(monkeypatch: pytest.MonkeyPatch) -> list[datetime]:
    """Let no moment be inside of any times; return the list of those that are asked about."""
    asked: list[datetime] = []

    def contains(_: WeekTimes, at: datetime) -> bool:
        asked.append(at)
        return False

    monkeypatch.setattr(WeekTimes, "contains", contains)
    return asked


def alerts() -> st.SearchStrategy[Alert]:
    """Draw alerts over few names, so that routes often fit."""
    labels = st.dictionaries(st.sampled_from(LABELS), st.sampled_from((*LABEL_VALUES, "", None)))
    return st.builds(
        sample,
        st.integers(0, 9),
        watch=st.sampled_from(WATCHES),
        severity=st.sampled_from(Severity),
        labels=labels,
    )


def matches() -> st.SearchStrategy[Match]:
    """Draw conditions."""
    watches = st.sampled_from((*WATCHES, "over-*", "*", "c?u", "[oc]*"))
    values = st.sampled_from((*LABEL_VALUES, "*", "?outh"))
    label = st.tuples(st.sampled_from(LABELS), st.lists(values, min_size=1).map(tuple))
    return st.builds(
        Match,
        st.none() | st.lists(watches, min_size=1, max_size=3).map(tuple),
        st.none() | st.frozensets(st.sampled_from(Severity), min_size=1),
        st.lists(label, max_size=2, unique_by=lambda each: each[0]).map(tuple),
    )


def told(route: str, *targets: Target) -> tuple[Instruction, ...]:
    """Return plain instructions: tell these, at once, in the channel's own words."""
    return tuple(Instruction(target, route) for target in targets)


def targets() -> st.SearchStrategy[tuple[Target, ...]]:
    """Draw recipients, some of them twice."""
    target = st.builds(
        Target, st.sampled_from(("bus", "email")), st.sampled_from(("a@b", "c@d", "topic"))
    )
    return st.lists(target, min_size=1, max_size=4).map(tuple)


def instructions(route: str = "default") -> st.SearchStrategy[tuple[Instruction, ...]]:
    """Draw who is told by one route."""
    return targets().map(lambda found: told(route, *found))


def routes(depth: int = 2) -> st.SearchStrategy[list[Route]]:
    """Draw a tree of routes."""
    inner = routes(depth - 1) if depth else st.just([])
    names = st.sampled_from(("x", "y", "z"))
    route = st.builds(
        lambda name, match, found, goes_on, inside: Route(
            name, match, told(name, *found), goes_on, routes=tuple(inside)
        ),
        names,
        matches(),
        targets(),
        st.booleans(),
        inner,
    )
    return st.lists(route, max_size=4 if depth == 2 else 2)
