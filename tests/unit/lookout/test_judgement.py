"""Judgement against a model that looks at everything in the slowest and plainest way."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.backbone.ledger.alerts.suppressions import Kind, Suppression
from services.contracts.ids import digest
from services.contracts.records import Alert, Severity
from services.lookout.decisions.judgement import judge, judge_one
from services.lookout.decisions.plans import encode_plan, read_plan
from services.lookout.matching import Match
from services.lookout.routing import (
    Grouping,
    Inhibition,
    Instruction,
    Plan,
    Quiet,
    Routes,
    SilenceRule,
    Target,
)
from services.lookout.standing import (
    Fired,
    Silence,
    Standing,
    found_at,
    inhibition_key,
)
from services.lookout.week_times import WeekPart, WeekTimes
from tests.unit.lookout.judging_model import World
from tests.unit.lookout.samples import alerts, matches, moments_asked, sample

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
HOURS = st.integers(-5, 5).map(lambda hours: NOW + timedelta(hours=hours))
UTC_ZONE = ZoneInfo("UTC")
EVERY_DAY = frozenset(range(7))
TIMES = {
    "nights": WeekTimes("nights", (WeekPart(EVERY_DAY, 22 * 60, 6 * 60, UTC_ZONE),)),
    "lunch": WeekTimes("lunch", (WeekPart(EVERY_DAY, 11 * 60, 13 * 60, UTC_ZONE),)),
}
EQUAL = st.lists(
    st.sampled_from(("watch", "severity", "labels.zone", "labels.client", "key.id")),
    max_size=2,
    unique=True,
).map(tuple)


def found(alert: Alert, at: datetime) -> Alert:
    return alert.model_copy(update={"detected_at_ms": int(at.timestamp() * 1000)})


def at_times() -> st.SearchStrategy[Match]:
    """Draw conditions of which some hold at times of the week only."""
    named = st.sampled_from([each for kind in TIMES.values() for each in (kind, kind.outside())])
    times = st.lists(named, max_size=2).map(tuple)
    return st.builds(lambda match, times: replace(match, times=times), matches(), times)


def silences() -> st.SearchStrategy[Silence]:
    return st.builds(
        Silence, st.sampled_from(("s1", "s2")), at_times(), HOURS, HOURS, st.just("ann"),
        st.just("works"),
    )  # fmt: skip


def windows() -> st.SearchStrategy[SilenceRule]:
    return st.builds(
        SilenceRule, st.sampled_from(("w1", "w2")), at_times(), st.just("bob"), st.just("works"),
        st.none() | HOURS, st.none() | HOURS, st.none() | st.sampled_from(list(TIMES.values())),
    )  # fmt: skip


def inhibitions() -> st.SearchStrategy[Inhibition]:
    seconds = st.sampled_from((600.0, 7200.0))
    return st.builds(
        Inhibition, st.sampled_from(("i1", "i2")), matches(), at_times(), EQUAL, seconds
    )


def instructions() -> st.SearchStrategy[Instruction]:
    spared = st.frozensets(st.sampled_from(Severity))
    times = [each for kind in TIMES.values() for each in (kind, kind.outside())]
    alone = st.builds(Quiet, st.sampled_from(times), spared)
    quiet = alone | st.builds(Quiet.joined, alone, alone)
    target = st.builds(Target, st.sampled_from(("sms", "email")), st.sampled_from(("a", "b")))
    grouping = st.builds(Grouping, EQUAL, st.sampled_from((10.0, 60.0)), st.integers(2, 5))
    return st.builds(
        Instruction,
        target,
        route=st.sampled_from(("r1", "r2")),
        template=st.none() | st.just("short"),
        fallback=st.lists(target, max_size=2).map(tuple),
        quiet=st.none() | quiet,
        grouping=st.none() | grouping,
    )


WORLDS = st.builds(
    World,
    st.lists(silences(), max_size=3),
    st.lists(windows(), max_size=2),
    st.lists(inhibitions(), max_size=2, unique_by=lambda each: each.name),
    st.lists(st.builds(found, alerts(), HOURS), max_size=4),
)


@given(WORLDS, alerts(), st.lists(instructions(), min_size=1, max_size=4), HOURS)
def test_every_verdict_is_the_models(
    world: World, alert: Alert, told: list[Instruction], at: datetime
) -> None:
    plan = Plan(("r",), (), tuple(told))
    for each in judge(plan, alert, world.standing(at), at):
        found = each.suppression and (each.suppression.kind, each.suppression.until)
        assert found == world.held(each.instruction, alert, at)
        if each.suppression is not None:
            assert each.suppression.until > at, "a wait that is over holds nothing back"
            assert each.why
            assert (each.suppression.group_key is None) == (each.suppression.kind != Kind.GROUP)


@given(WORLDS, alerts(), instructions(), HOURS)
def test_what_has_waited_for_its_group_is_held_back_by_the_rest_only(
    world: World, alert: Alert, told: Instruction, at: datetime
) -> None:
    held = judge_one(told.ungrouped(), alert, world.standing(at), at)
    found = held and (held.kind, held.until)
    assert found == world.held(replace(told, grouping=None), alert, at)


@given(instructions())
def test_a_plan_comes_back_from_the_ledger_as_it_was(told: Instruction) -> None:
    routes = Routes((), (), times=TIMES)
    assert read_plan(orjson.loads(encode_plan(told)), told.target, routes) == told


OF_BEFORE = {"times": "nights", "outside": False, "unless": ["critical"]}
"""Quiet hours as they were recorded when no plan could have those of two routes."""
GONE = {"times": "gone", "outside": False, "unless": []}


@pytest.mark.parametrize(
    ("quiet", "read"),
    [
        (OF_BEFORE, Quiet(TIMES["nights"], frozenset({Severity.CRITICAL}))),
        (GONE, None),
        (GONE | {"and": [OF_BEFORE]}, None),
        (OF_BEFORE | {"and": [GONE]}, None),
    ],
)
def test_times_that_the_routes_do_not_name_any_more_hold_nothing_back(
    quiet: dict[str, object], read: Quiet | None
) -> None:
    routes = Routes((), (), times=TIMES)
    assert read_plan({"quiet": quiet}, Target("sms", "a"), routes).quiet == read


def test_quiet_hours_of_two_routes_begin_with_those_that_a_lookout_of_before_reads() -> None:
    nights = Quiet(TIMES["nights"], frozenset({Severity.CRITICAL}))
    both = Instruction(Target("sms", "a"), "r", quiet=nights.joined(Quiet(TIMES["lunch"])))
    plan = orjson.loads(encode_plan(both))
    assert OF_BEFORE.items() <= plan["quiet"].items()


GROUPED = Instruction(Target("sms", "a"), "r", grouping=Grouping(("watch", "labels.zone"), 60, 5))


def group_of(alert: Alert, told: Instruction = GROUPED) -> Suppression:
    held = judge_one(told, alert, Standing(), NOW)
    assert held is not None
    return held


def test_what_holds_back_at_times_of_the_week_does_so_until_they_end() -> None:
    """Once the whole silence's end counted: a month of nights held an alert back for the month."""
    alert, night = found(sample(), NOW), NOW.replace(hour=23)
    morning, month = NOW.replace(hour=6) + timedelta(days=1), NOW + timedelta(days=30)
    nights = Match(times=(TIMES["nights"],))
    silence = Silence("s", nights, NOW, month, "ann", "works")
    window = SilenceRule("w", nights, "bob", "works", NOW, month, None)
    inhibition = Inhibition("i", Match(watch=()), nights, (), 30 * 86_400.0)
    fired = {inhibition_key(inhibition, alert): (Fired("another", night),)}
    for standing in (Standing((silence,)), Standing(windows=(window,))):
        held = standing.silenced(alert, night)
        assert held is not None
        assert held.until == morning
    muted = Standing(inhibitions=(inhibition,), fired=fired).inhibited(alert, night)
    assert muted is not None
    assert muted.until == morning


def test_the_times_of_a_window_that_is_for_other_alerts_are_not_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = moments_asked(monkeypatch)
    nights = SilenceRule("w", Match(watch=("other",)), "bob", "works", during=TIMES["nights"])
    assert Standing(windows=(nights,)).silenced(sample(), NOW) is None
    assert asked == []
    assert Standing(windows=(replace(nights, match=Match()),)).silenced(sample(), NOW) is None
    assert asked == [NOW]


def test_an_alert_that_says_to_be_of_the_year_9999_mutes_to_the_end_of_time() -> None:
    alert, other = sample(1), sample(2, detected_at_ms=253_402_300_799_999)
    inhibition = Inhibition("i", Match(watch=()), Match(), (), 600.0)
    fired = {inhibition_key(inhibition, alert): (Fired(other.alert_id, found_at(other)),)}
    muted = Standing(inhibitions=(inhibition,), fired=fired).inhibited(alert, NOW)
    assert muted is not None
    assert muted.until == datetime.max.replace(tzinfo=UTC)


def test_a_group_is_one_recipients_alerts_that_are_alike() -> None:
    north = group_of(sample(1, labels={"zone": "north", "client": "x"}))
    assert group_of(sample(2, labels={"zone": "north"})).group_key == north.group_key
    others = [
        group_of(sample(3, labels={"zone": "south"})),
        group_of(sample(4, labels={"zone": "north"}, watch="cpu")),
        group_of(sample(5)),
        group_of(sample(6, labels={"zone": "north"}), replace(GROUPED, route="other")),
        group_of(sample(7, labels={"zone": "north"}), replace(GROUPED, target=Target("sms", "b"))),
    ]
    keys = {each.group_key for each in others}
    assert len(keys) == len(others)
    assert north.group_key not in keys
    assert (north.until, north.group_limit) == (NOW + timedelta(minutes=1), 5)


@given(instructions(), instructions(), st.booleans(), st.booleans())
def test_a_group_is_of_those_whom_its_failure_is_told_to_alike(
    one: Instruction, other: Instruction, on_held: bool, other_on_held: bool
) -> None:
    lists = ((one.fallback, on_held), (other.fallback, other_on_held))
    first, second = (
        group_of(sample(), replace(GROUPED, fallback=listed, fallback_on_held=held)).group_key
        for listed, held in lists
    )
    assert (first == second) == (lists[0] == lists[1] or not (one.fallback or other.fallback))


def test_a_group_without_a_fallback_has_the_key_that_lookouts_of_before_give_it() -> None:
    zoned = group_of(sample(labels={"zone": "north"}))
    key = digest("group", "r", "sms", "a", "watch", "labels.zone", "over-limit", "north")
    assert zoned.group_key == key


def test_two_sources_of_one_inhibition_do_not_mute_each_other() -> None:
    both = Inhibition("all", Match(), Match(), (), 600)
    alert, other = (found(sample(number), NOW) for number in (1, 2))
    key = inhibition_key(both, alert)
    standing = Standing(inhibitions=(both,), fired={key: (Fired(other.alert_id, NOW),)})
    assert standing.inhibited(alert, NOW) is None
    mild = Match(severity=frozenset({Severity.INFO}))
    strong = Match(severity=frozenset({Severity.CRITICAL}))
    one_way = replace(standing, inhibitions=(replace(both, source=strong, muted=mild),))
    muted = one_way.inhibited(sample(3, severity=Severity.INFO), NOW)
    assert muted is not None
    assert other.alert_id in muted.why
