"""When a member of a group counts as reading nothing: examples, and two properties."""

import math
from collections.abc import Collection
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from services.backbone.clock import ManualClock
from services.backbone.errors import Transient
from services.backbone.kafka.settled import Place
from services.backbone.reading import Reading
from tests.seen import Seen

LIMIT_SECONDS = 30.0
ONE = ("alerts", 0)
OTHER = ("alerts", 1)


@dataclass
class Told:
    """A member that says what the test tells it to say."""

    member: bool = True
    read: dict[Place, int] = field(default_factory=lambda: {ONE: 0})
    waiting: dict[Place, int] | None = field(default_factory=dict)
    """None: the brokers do not answer."""
    asked: list[set[Place]] = field(default_factory=list)
    asked_for_membership: int = 0
    asking: float = math.inf
    begun_anew: list[str] = field(default_factory=list)

    def is_member(self) -> bool:
        self.asked_for_membership += 1
        return self.member

    def given(self) -> int:
        return sum(self.read.values())

    def positions(self) -> dict[Place, int]:
        return dict(self.read)

    def unread(self, places: Collection[Place], timeout_seconds: float) -> dict[Place, int]:
        self.asked.append(set(places))
        if self.waiting is None:
            raise Transient(f"no answer in {timeout_seconds} s")
        return {place: self.waiting[place] for place in places if self.waiting.get(place)}

    def asking_seconds(self) -> float:
        return self.asking

    def begin_anew(self, why: str) -> None:
        self.begun_anew.append(why)
        self.asking = 0.0


def after(member: Told, *steps_seconds: float) -> str | None:
    """Turn once at the start and after each step; return the trouble at the end."""
    clock = ManualClock()
    reading = Reading(clock, LIMIT_SECONDS)
    reading.turn(member)
    for step in steps_seconds:
        clock.move(step)
        reading.turn(member)
    return reading.trouble()


def test_not_a_member_yet() -> None:
    assert after(Told(member=False), 1) == "Kafka has not taken it into its consumer group yet"


def test_quiet_and_nothing_there_is_well() -> None:
    assert after(Told(), *[1.0] * 100) is None


def test_records_that_are_there_and_do_not_come_are_told_after_the_limit() -> None:
    assert after(Told(waiting={ONE: 7}), *[1.0] * 30) is None
    assert after(Told(waiting={ONE: 7}), *[1.0] * 31) == "reads nothing for 31 s: 7 records wait"


def test_one_partition_of_two_that_stands_still_is_told_and_a_new_client_reads_it() -> None:
    clock, member = ManualClock(), Told(read={ONE: 0, OTHER: 5}, waiting={OTHER: 3})
    reading, told = Reading(clock, LIMIT_SECONDS), set[str | None]()
    for _ in range(90):
        reading.turn(member)
        told.add((reading.trouble() or "").partition(" for ")[0])
        member.read[ONE] += 1
        clock.move(1)
    assert told == {"", "reads nothing"}
    assert member.begun_anew == ["alerts/1: 3 records wait"]
    both = {ONE, OTHER}  # of those of a new client nobody knows yet whether they bring anything
    assert member.asked == [both, *[{OTHER}] * 7]


def test_one_record_that_has_just_come_to_a_quiet_partition_is_no_reason_for_a_new_client() -> None:
    clock, member = ManualClock(), Told()
    reading = Reading(clock, LIMIT_SECONDS)
    for turn in range(1000):
        # Each look meets a record on its way, which is given out by the next turn.
        member.waiting = {ONE: 1} if turn % 10 == 0 else {}
        reading.turn(member)
        member.read[ONE] += member.waiting.get(ONE, 0)
        clock.move(1)
    assert member.begun_anew == []


def test_brokers_that_answer_again_are_given_time_to_bring_what_waits() -> None:
    clock, member = ManualClock(), Told(waiting=None)
    reading = Reading(clock, LIMIT_SECONDS)
    for turn in range(150):
        member.waiting = None if turn < 80 else {ONE: 7}
        reading.turn(member)
        assert turn < 140 or member.begun_anew
        assert turn >= 140 or not member.begun_anew
        clock.move(1)


@dataclass
class Replaced(Told):
    """A member whose new client is in the group at once, and is given its partition later."""

    gave: int = 0
    unassigned_turns: int = 0

    def given(self) -> int:
        return self.gave

    def positions(self) -> dict[Place, int]:
        return {} if self.unassigned_turns else dict(self.read)

    def begin_anew(self, why: str) -> None:
        super().begin_anew(why)
        self.read, self.unassigned_turns = {ONE: -1001}, 15


def test_it_is_in_trouble_until_some_client_brings_what_waits() -> None:
    clock, member = ManualClock(), Replaced(read={ONE: 5}, waiting={ONE: 7}, asking=0.0)
    reading = Reading(clock, LIMIT_SECONDS)
    for second in range(400):
        member.asking += 1
        member.unassigned_turns = max(0, member.unassigned_turns - 1)
        reading.turn(member)
        assert (reading.trouble() is not None) is (second > 30)
        clock.move(1)
    assert len(member.begun_anew) > 3
    member.read, member.gave, member.unassigned_turns = {ONE: 6}, 1, 0
    reading.turn(member)
    assert reading.trouble() is None


turns = st.tuples(st.floats(0.1, 10), st.sampled_from([True, *[False] * 30]))
LONG = Seen()


@LONG.must_be(None, 0, 7)
@given(st.lists(turns, min_size=20, max_size=80), st.sampled_from([None, 0, 7]))
@settings(deadline=None)
def test_a_client_that_fetches_nothing_of_what_is_there_is_replaced_and_no_other(
    steps: list[tuple[float, bool]], waiting: int | None
) -> None:
    """A loop that tries its last batch again asks for nothing meanwhile: it is not starved."""
    clock = ManualClock()
    member = Told(waiting=None if waiting is None else {ONE: waiting}, asking=0.0)
    reading = Reading(clock, LIMIT_SECONDS)
    reading.turn(member)
    looks_seconds = 2 * (LIMIT_SECONDS / 3 + 10)
    for step, tries_again in steps:
        clock.move(step)
        member.asking = 0.0 if tries_again else member.asking + step
        asking_seconds, before = member.asking, len(member.begun_anew)
        reading.turn(member)
        if len(member.begun_anew) != before:
            assert (waiting, asking_seconds >= 2 * LIMIT_SECONDS) == (7, True)
        if waiting == 7:
            assert member.asking <= 2 * LIMIT_SECONDS + looks_seconds
        if asking_seconds >= 2 * LIMIT_SECONDS:
            LONG.add(waiting)


def test_brokers_that_do_not_answer_are_told_after_the_limit() -> None:
    told = after(Told(waiting=None), *[1.0] * 31)
    assert told == "reads nothing for 31 s: no answer in 0.5 s"


def test_a_loop_that_does_not_turn_is_told() -> None:
    clock = ManualClock()
    reading = Reading(clock, LIMIT_SECONDS)
    reading.turn(Told())
    clock.move(31)
    assert reading.trouble() == "has not asked the brokers for records for 31 s"


def test_brokers_are_asked_only_where_nothing_comes_and_not_at_every_turn() -> None:
    member = Told(waiting={ONE: 3})
    clock = ManualClock()
    reading = Reading(clock, LIMIT_SECONDS)
    for number in range(100):
        member.read[ONE] = number
        clock.move(1)
        reading.turn(member)
    assert member.asked == [{ONE}], "once, when it was new"
    member.asked.clear()
    member.asking = 0.0
    for _ in range(100):
        clock.move(1)
        reading.turn(member)
    assert member.asked == [{ONE}] * 10


def test_whoever_gets_records_is_a_member_and_is_not_asked() -> None:
    member = Told()
    reading = Reading(ManualClock(), LIMIT_SECONDS)
    for number in range(100):
        member.read[ONE] = number + 1
        reading.turn(member)
        assert reading.trouble() is None
    assert member.asked_for_membership == 0
    member.member = False
    reading.turn(member)
    assert reading.trouble() is not None


steps = st.lists(st.floats(0.01, 10), max_size=60)
come = st.tuples(st.sampled_from([ONE, OTHER]), st.booleans(), st.integers(1, 3))


@given(steps, st.lists(come, min_size=60, max_size=60))
@settings(deadline=None)
def test_whoever_gets_what_is_there_is_never_in_trouble(
    steps: list[float], came: list[tuple[Place, bool, int]]
) -> None:
    """Records may be there at any moment; each is given out by the next turn."""
    clock, member = ManualClock(), Told(read={ONE: 0, OTHER: 0})
    reading = Reading(clock, LIMIT_SECONDS)
    reading.turn(member)
    for step, (place, is_there, count) in zip(steps, came, strict=False):
        clock.move(step)
        for each, waits in (member.waiting or {}).items():
            member.read[each] += waits
        member.waiting = {place: count} if is_there else {}
        reading.turn(member)
        assert reading.trouble() is None
    assert member.begun_anew == []


@given(steps, steps, st.sampled_from([None, {OTHER: 1}, {OTHER: 1000}]), st.booleans())
@settings(deadline=None)
def test_whoever_gets_nothing_of_what_is_there_is_in_trouble_soon_and_well_when_it_comes(
    before: list[float], steps: list[float], waiting: dict[Place, int] | None, other_flows: bool
) -> None:
    """Also where another partition brings records all the time."""
    clock, member = ManualClock(), Told(read={ONE: 0, OTHER: 0}, asking=0.0)
    reading = Reading(clock, LIMIT_SECONDS)
    reading.turn(member)
    for step in before:
        clock.move(step)
        reading.turn(member)
    member.waiting = waiting
    stuck_seconds = 0.0
    for step in steps:
        clock.move(step)
        stuck_seconds += step
        member.read[ONE] += other_flows
        reading.turn(member)
        in_trouble = reading.trouble() is not None
        assert in_trouble or stuck_seconds <= LIMIT_SECONDS + LIMIT_SECONDS / 3 + 10
    member.read = {place: read + 1 for place, read in member.read.items()}
    reading.turn(member)
    assert reading.trouble() is None
