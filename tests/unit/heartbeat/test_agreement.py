"""Disagreements against a model of two auditors that die, come back, catch up, and miss alerts.

Method: the model lays out when each auditor is away and which alerts it will never raise; what is
found must be just what was planted and could be seen, however the auditors come and go.
"""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from services.heartbeat.agreement import AGREED_LIMIT, OPEN_LIMIT, Agreement, Raised

AGREE, LATE, GAP = 60.0, 10.0, 14.0
PAIR = frozenset({"a", "b"})
END = 1500.0
WATCH = "watch"


@dataclass(frozen=True)
class Away:
    """An auditor does nothing from `begin` to `end`, then raises what it has not yet."""

    begin: float
    end: float


@dataclass(frozen=True)
class Arrival:
    at: float
    alert: str
    auditor: str
    age: float


@dataclass(frozen=True)
class Auditor:
    name: str
    away: tuple[Away, ...]
    misses: frozenset[str]

    def raises(self, alert: str, event_at: float) -> Arrival | None:
        if alert in self.misses:
            return None
        absent = [each for each in self.away if each.begin <= event_at < each.end]
        at = absent[0].end + 0.5 if absent else event_at + 0.005
        return Arrival(at, alert, self.name, at - event_at)

    def in_step_seconds(self, now: float) -> float | None:
        """As heartbeats tell: an absence shows when it is longer than the gap."""
        for each in reversed(self.away):
            if each.begin <= now < each.end:
                if now - each.begin > GAP:
                    return None
            elif each.end <= now and each.end - each.begin > GAP:
                return now - each.end
        return now


def auditors(name: str) -> st.SearchStrategy[Auditor]:
    gaps = st.lists(st.tuples(st.floats(1, 300), st.floats(0.1, 300)), max_size=5)
    misses = st.frozensets(st.integers(0, 29).map(str), max_size=4)
    return st.builds(lambda g, m: Auditor(name, absences(g), m), gaps, misses)


def absences(gaps: list[tuple[float, float]]) -> tuple[Away, ...]:
    at, found = 0.0, []
    for present, absent in gaps:
        found.append(Away(at + present, at + present + absent))
        at += present + absent
    return tuple(found)


@given(st.lists(st.floats(1, 1000), min_size=30, max_size=30), auditors("a"), auditors("b"))
def test_what_was_planted_is_found_and_nothing_else(
    events: list[float], one: Auditor, two: Auditor
) -> None:
    both = {one.name: one, two.name: two}
    found = run(events, both)
    planted = {(alert, each.name) for each in both.values() for alert in each.misses}
    assert found <= planted
    for alert, missing in planted - found:
        other = both[next(iter(PAIR - {missing}))]
        assert hidden(other, both[missing], alert, events[int(alert)]), (alert, missing)


def hidden(other: Auditor, missing: Auditor, alert: str, event_at: float) -> bool:
    """Say whether it could not be seen: nobody raised it at once, or no time was left."""
    raised = other.raises(alert, event_at)
    step = missing.in_step_seconds(END)
    late = raised is None or raised.age > LATE
    own_late = missing.away and missing.away[-1].end > END - AGREE - 6
    return late or step is None or step < AGREE + 6 or bool(own_late)


def run(events: list[float], both: dict[str, Auditor]) -> set[tuple[str, str]]:
    agreement = Agreement(AGREE, LATE, PAIR)
    raised = [
        each
        for number, at in enumerate(events)
        for auditor in both.values()
        if (each := auditor.raises(str(number), at)) is not None
    ]
    found: set[tuple[str, str]] = set()
    timeline = sorted(raised, key=lambda each: each.at)
    now = 0.0
    while now < END:
        while timeline and timeline[0].at <= now:
            each = timeline.pop(0)
            agreement.raised(Raised(each.alert, WATCH, each.auditor), each.age, each.at)
        steps = {
            (WATCH, name): step
            for name, auditor in both.items()
            if (step := auditor.in_step_seconds(now)) is not None
        }
        found |= {(each.alert_id, each.missing) for each in agreement.judge(now, steps, {})}
        now += 3.0
    return found


STEPS = {(WATCH, "a"): 1e6, (WATCH, "b"): 1e6}


def test_a_disagreement_is_told_once_shown_and_ended_by_a_late_alert() -> None:
    agreement = Agreement(AGREE, LATE, PAIR)
    agreement.raised(Raised("one", WATCH, "a"), 0.1, 100.0)
    assert not agreement.due(159.0)
    assert agreement.judge(159.0, STEPS, {}) == []
    assert agreement.due(160.0)
    (found,) = agreement.judge(160.0, STEPS, {})
    assert (found.missing, found.raised_by, found.since_seconds) == ("b", ("a",), 100.0)
    assert agreement.judge(161.0, STEPS, {}) == []
    assert agreement.disagreements() == [found]
    assert agreement.raised(Raised("one", WATCH, "b"), 80.0, 180.0) == [found]
    assert agreement.disagreements() == []
    assert agreement.raised(Raised("one", WATCH, "a"), 0.1, 200.0) == []
    assert agreement.judge(300.0, STEPS, {}) == []


def test_what_is_raised_late_begins_no_comparison() -> None:
    """An auditor that catches up raises again what the other raised before this program began."""
    agreement = Agreement(AGREE, LATE, PAIR)
    agreement.raised(Raised("old", WATCH, "a"), 11.0, 100.0)
    assert agreement.judge(1000.0, STEPS, {}) == []


def test_whoever_still_raises_late_alerts_is_given_more_time() -> None:
    agreement = Agreement(AGREE, LATE, PAIR)
    agreement.raised(Raised("one", WATCH, "a"), 0.1, 100.0)
    agreement.raised(Raised("old", WATCH, "b"), 500.0, 150.0)
    assert agreement.judge(205.0, STEPS, {}) == []
    assert len(agreement.judge(211.0, STEPS, {})) == 1


@dataclass(frozen=True)
class Takes:
    """An auditor that takes a changed rule at a time, and then raises all that this finds."""

    name: str
    changes_at: float

    def mark(self, at: float) -> str:
        return "new" if at >= self.changes_at else "old"

    def raises(self, alert: str, event_at: float, rules: frozenset[str]) -> list[Arrival]:
        mark = self.mark(event_at)
        found = [Arrival(event_at + 0.005, alert, self.name, 0.005)] if mark in rules else []
        if mark == "old" and "new" in rules:
            found.append(Arrival(self.changes_at, alert, self.name, self.changes_at - event_at))
        return found


RULES = st.frozensets(st.sampled_from(("old", "new")))
CHANGES_AT = st.floats(100, 800)


@given(st.lists(st.tuples(st.floats(1, 1000), RULES), max_size=30), CHANGES_AT, CHANGES_AT)
def test_while_a_rule_changes_nothing_is_a_disagreement(
    events: list[tuple[float, frozenset[str]]], one: float, two: float
) -> None:
    both = Takes("a", one), Takes("b", two)
    assert told_of_changes(events, both, frozenset()) == set()


@given(st.floats(1, 1000), CHANGES_AT, CHANGES_AT, st.sampled_from(("a", "b")))
def test_what_one_misses_under_the_rule_of_both_is_found(
    event_at: float, one: float, two: float, missing: str
) -> None:
    both = Takes("a", one), Takes("b", two)
    if both[0].mark(event_at) != both[1].mark(event_at):
        return
    if both[0].mark(event_at + AGREE + 6) != both[0].mark(event_at):
        return
    if both[1].mark(event_at + AGREE + 6) != both[1].mark(event_at):
        return
    rules = frozenset({both[0].mark(event_at)})
    assert told_of_changes([(event_at, rules)], both, frozenset({missing})) == {("0", missing)}


def told_of_changes(
    events: list[tuple[float, frozenset[str]]], both: tuple[Takes, Takes], missing: frozenset[str]
) -> set[tuple[str, str]]:
    agreement, found, now = Agreement(AGREE, LATE, PAIR), set[tuple[str, str]](), 0.0
    raised = [
        each
        for number, (at, rules) in enumerate(events)
        for auditor in both
        if auditor.name not in missing
        for each in auditor.raises(str(number), at, rules)
    ]
    timeline = sorted(raised, key=lambda each: each.at)
    marked = {each.name: each for each in both}
    while now < END:
        while timeline and timeline[0].at <= now:
            each = timeline.pop(0)
            mark = marked[each.auditor].mark(each.at - 0.005 if each.age < 1 else each.at)
            agreement.raised(Raised(each.alert, WATCH, each.auditor, mark), each.age, each.at)
        steps = {
            (WATCH, each.name): now - each.changes_at if now >= each.changes_at else now
            for each in both
        }
        marks = {(WATCH, each.name): each.mark(now) for each in both}
        found |= {(each.alert_id, each.missing) for each in agreement.judge(now, steps, marks)}
        now += 3.0
    return found


def test_who_does_not_tell_what_it_takes_a_watch_to_be_is_compared() -> None:
    agreement = Agreement(AGREE, LATE, PAIR)
    agreement.raised(Raised("one", WATCH, "a", "new"), 0.1, 100.0)
    assert len(agreement.judge(160.0, STEPS, {})) == 1


def test_what_no_rule_finds_any_more_is_compared_no_further() -> None:
    agreement = Agreement(AGREE, LATE, PAIR)
    agreement.raised(Raised("one", WATCH, "a", "old"), 0.1, 100.0)
    marks = {(WATCH, "a"): "old", (WATCH, "b"): "new"}
    assert agreement.judge(160.0, STEPS, marks) == []
    assert agreement.due(1000.0)
    assert agreement.judge(163.0, STEPS, dict.fromkeys(marks, "new")) == []
    assert not agreement.due(1000.0)
    assert agreement.given_up == 1


def test_one_auditor_alone_and_strangers_are_not_compared() -> None:
    for auditors in (frozenset[str](), frozenset({"a"})):
        agreement = Agreement(AGREE, LATE, auditors)
        agreement.raised(Raised("one", WATCH, "a"), 0.1, 100.0)
        assert agreement.judge(1000.0, STEPS, {}) == []
    agreement = Agreement(AGREE, LATE, PAIR)
    agreement.raised(Raised("one", WATCH, "stranger"), 0.1, 100.0)
    assert not agreement.due(1000.0)


def test_memory_is_bounded() -> None:
    agreement = Agreement(AGREE, LATE, PAIR)
    for number in range(OPEN_LIMIT + 7):
        agreement.raised(Raised(f"open-{number}", WATCH, "a"), 0.1, 0.0)
    assert agreement.given_up == 7
    assert len(agreement.judge(1000.0, STEPS, {})) == OPEN_LIMIT
    for number in range(AGREED_LIMIT + 7):
        agreement.raised(Raised(f"agreed-{number}", WATCH, "a"), 0.1, 0.0)
        agreement.raised(Raised(f"agreed-{number}", WATCH, "b"), 0.1, 0.0)
    assert len(agreement._agreed) == AGREED_LIMIT  # noqa: SLF001 - nothing else shows it
