"""What is compared when: nothing too soon, nothing forgotten, and nothing told too soon."""

from dataclasses import dataclass, field
from unittest.mock import Mock, create_autospec

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.accountant.aside import Aside
from services.accountant.comparing import BATCH_LIMIT, COMPARE_EVERY_SECONDS, Comparison
from services.accountant.reader import Reader
from services.backbone.clock import ManualClock
from services.backbone.errors import Transient
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.consumer import Consumer, Incoming
from services.backbone.ledger.accounting.completeness import Completeness
from services.backbone.ledger.accounting.findings import Finding, Findings
from services.contracts import topics

BEHIND_SECONDS = 5.0
ASIDE = Incoming(topics.rejected(topics.ALERTS), 0, 0, b"refused", b"{}", 0)


def consumer() -> Mock:
    made: Mock = create_autospec(Consumer, instance=True)
    made.batch.return_value = []
    made.given.return_value = 0
    made.positions.return_value = made.unread.return_value = {}
    made.asking_seconds.return_value = 0.0
    return made


@dataclass
class Scene:
    """A comparison, and what it reads and asks."""

    clock: ManualClock = field(default_factory=ManualClock)
    completeness: Mock = field(default_factory=lambda: create_autospec(Completeness, instance=True))
    findings: Mock = field(default_factory=lambda: create_autospec(Findings, instance=True))
    alerts: Mock = field(default_factory=consumer)
    aside: Mock = field(default_factory=consumer)

    def __post_init__(self) -> None:
        self.completeness.missing.return_value = set()
        self.completeness.absences.return_value = []
        admin = create_autospec(TopicAdmin, instance=True)
        admin.partitions.return_value = {topics.rejected(topics.ALERTS): 1}
        aside = Aside(self.completeness, Reader(self.aside, self.clock), admin)
        alerts = Reader(self.alerts, self.clock)
        self.comparison = Comparison(
            self.completeness, self.findings, alerts, aside, self.clock, BEHIND_SECONDS
        )
        self.written = 0

    def step(self, *ages_seconds: float) -> int:
        """Do one step, to which records of these ages come."""
        first, now_ms = self.written, self.clock.now_ms()
        self.written += len(ages_seconds)
        self.alerts.batch.return_value = [
            Incoming(topics.ALERTS, 0, first + number, None, b"x", now_ms - int(age * 1000))
            for number, age in enumerate(ages_seconds)
        ]
        return self.comparison.step(0.0)

    def committed(self) -> list[int]:
        return [each.offset for call in self.alerts.commit.call_args_list for each in call.args[0]]

    def found(self) -> list[Finding]:
        return [each for call in self.findings.keep.call_args_list for each in call.args[0]]


def test_what_was_set_aside_while_postgres_was_away_is_kept_when_it_is_back() -> None:
    scene = Scene()
    scene.aside.batch.side_effect = [[ASIDE], []]
    scene.completeness.keep_aside.side_effect = [Transient("Postgres is away"), None]
    with pytest.raises(Transient):
        scene.step()
    scene.aside.commit.assert_not_called()
    scene.step()
    assert [call.args for call in scene.completeness.keep_aside.call_args_list] == [
        (["refused"],)
    ] * 2
    scene.aside.idle.assert_called_once()
    scene.aside.commit.assert_called_once_with([ASIDE])


ages = st.lists(st.floats(-20, 20), max_size=3)
turns = st.lists(st.tuples(st.floats(0, 3), ages, st.booleans()), max_size=60)


@given(turns)
@settings(deadline=None)
def test_each_record_is_compared_once_in_its_turn_when_the_lookout_has_had_its_time(
    turns: list[tuple[float, list[float], bool]],
) -> None:
    """A record whose own time is still to come counts as of now."""
    scene, due_ms, there_ms = Scene(), list[int](), list[int]()
    behind_ms = int(BEHIND_SECONDS * 1000)
    for step, ages, is_away in turns:
        scene.clock.move(step)
        now_ms = scene.clock.now_ms()
        new = [now_ms - max(0, int(age * 1000)) + behind_ms for age in ages]
        due_ms, there_ms = due_ms + new, there_ms + [now_ms] * len(new)
        scene.completeness.missing.side_effect = Transient("Postgres is away") if is_away else None
        before = len(scene.committed())
        try:
            scene.step(*ages)
        except Transient:
            assert is_away
        committed = scene.committed()
        assert committed == list(range(len(committed)))
        assert all(due <= now_ms for due in due_ms[before : len(committed)])
        if not is_away and (first := len(committed)) < len(due_ms):
            could_be_ms = max(due_ms[first], there_ms[first])
            assert could_be_ms >= now_ms - COMPARE_EVERY_SECONDS * 1000


class SetBack(ManualClock):
    """A clock whose time of day may be set back."""

    back_ms = 0

    def now_ms(self) -> int:
        return super().now_ms() - self.back_ms


set_back = st.tuples(st.floats(0, 3), st.integers(0, 7_200_000), ages)


@given(st.lists(set_back, max_size=60))
@settings(deadline=None)
def test_a_clock_that_is_set_back_holds_up_nothing(
    turns: list[tuple[float, int, list[float]]],
) -> None:
    clock = SetBack()
    scene, read_ms = Scene(clock=clock), list[int]()
    longest_ms = int((BEHIND_SECONDS + COMPARE_EVERY_SECONDS) * 1000)
    for step, back_ms, ages in turns:
        clock.move(step)
        clock.back_ms += back_ms
        now_ms = round(clock.monotonic_seconds() * 1000)
        read_ms += [now_ms] * len(ages)
        scene.step(*ages)
        committed = scene.committed()
        assert committed == list(range(len(committed)))
        assert all(each >= now_ms - longest_ms for each in read_ms[len(committed) :])


def test_a_backlog_is_compared_without_pauses() -> None:
    scene = Scene()
    left = [BATCH_LIMIT, BATCH_LIMIT, BATCH_LIMIT // 2]
    assert scene.step(*[60.0] * sum(left)) == left[0]
    assert [scene.step(), scene.step()] == [left[1], 0]
    scene.clock.move(COMPARE_EVERY_SECONDS)
    assert scene.step() == left[2]


def test_it_reads_on_while_alerts_wait_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever takes nothing meanwhile never learns that a partition brings nothing."""
    monkeypatch.setattr("services.accountant.comparing.WAITING_LIMIT", 3)
    scene = Scene()
    scene.step(0.0, 0.0)
    scene.step(0.0)
    scene.alerts.idle.assert_not_called()
    scene.step()
    scene.alerts.idle.assert_called_once()
    scene.clock.move(BEHIND_SECONDS)
    assert scene.step() == 3
    scene.step(0.0)
    assert scene.alerts.idle.call_count == 2
    assert scene.alerts.batch.call_count == 3


def test_an_alert_is_not_missing_while_it_may_have_been_set_aside() -> None:
    """Its reader may be behind, or starve."""
    scene = Scene()
    scene.completeness.missing.return_value = {"alerts/0/0"}
    scene.aside.unread.return_value = {(topics.rejected(topics.ALERTS), 0): 1}
    for _ in range(100):
        assert scene.step(*[60.0] * (scene.written == 0)) == 0
        scene.clock.move(1.0)
    assert (scene.found(), scene.committed()) == ([], [])
    scene.aside.batch.side_effect = [[ASIDE]]
    scene.aside.unread.return_value = {}
    scene.completeness.missing.return_value = set()
    assert scene.step() == 1
    assert scene.found() == []


def test_an_alert_is_missing_also_while_others_are_set_aside_all_the_time() -> None:
    scene = Scene()
    scene.completeness.missing.return_value = {"alerts/0/0"}
    scene.aside.unread.return_value = {(topics.rejected(topics.ALERTS), 0): 3}
    for given_out, compared in ((5, 0), (7, 0), (8, 1)):
        scene.aside.given.return_value = given_out
        assert scene.step(*[60.0] * (scene.written == 0)) == compared
        scene.clock.move(1.0)
    assert [each.subject for each in scene.found()] == ["alerts/0/0"]
    assert scene.step(60.0) == 0, "what is set aside by now is asked for anew"


def test_an_alert_is_missing_that_was_not_set_aside() -> None:
    scene = Scene()
    scene.completeness.missing.return_value = {"alerts/0/0"}
    assert scene.step(60.0) == 1
    assert [each.subject for each in scene.found()] == ["alerts/0/0"]


@pytest.mark.parametrize("starved", ["alerts", "aside"])
def test_a_reader_to_which_nothing_comes_is_told_and_replaced(starved: str) -> None:
    scene = Scene()
    reader: Mock = getattr(scene, starved)
    reader.positions.return_value = {("any", 0): 5}
    reader.unread.return_value = {("any", 0): 7}
    told = list[str | None]()
    for second in range(65):
        reader.asking_seconds.return_value = float(second)
        scene.step()
        told.append(scene.comparison.trouble())
        scene.clock.move(1.0)
    assert told[:31] == [None] * 31
    assert told[31] == "reads nothing for 31 s: 7 records wait"
    reader.begin_anew.assert_not_called()
    for second in range(65, 80):
        reader.asking_seconds.return_value = float(second)
        scene.step()
        scene.clock.move(1.0)
    reader.begin_anew.assert_called_once_with("any/0: 7 records wait")


def test_what_waits_while_a_reader_takes_nothing_is_no_trouble() -> None:
    scene = Scene()
    scene.alerts.positions.return_value = {("any", 0): 5}
    scene.alerts.unread.return_value = {("any", 0): 7}
    for _ in range(100):
        scene.step()
        scene.clock.move(1.0)
        assert scene.comparison.trouble() is None
    scene.alerts.begin_anew.assert_not_called()
