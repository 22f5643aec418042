"""When a member of a group counts as reading nothing: examples, and two properties."""

from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from services.backbone.clock import ManualClock
from services.backbone.errors import Transient
from services.backbone.reading import Reading

LIMIT_SECONDS = 30.0


@dataclass
class Told:
    """A member that says what the test tells it to say."""

    member: bool = True
    read: int = 0
    waiting: int | None = 0
    """None: the brokers do not answer."""
    asked: int = 0
    asked_for_membership: int = 0
    starved: float = 0.0
    begun_anew: int = 0

    def is_member(self) -> bool:
        self.asked_for_membership += 1
        return self.member

    def given(self) -> int:
        return self.read

    def unread(self, timeout_seconds: float) -> int:
        self.asked += 1
        if self.waiting is None:
            raise Transient(f"no answer in {timeout_seconds} s")
        return self.waiting

    def starved_seconds(self) -> float:
        return self.starved

    def begin_anew(self, why: str) -> None:
        self.begun_anew += 1
        self.starved = 0.0


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
    assert after(Told(waiting=7), *[1.0] * 30) is None
    assert after(Told(waiting=7), *[1.0] * 31) == "reads nothing for 31 s: 7 records wait"


@given(
    st.lists(st.tuples(st.floats(0.1, 10), st.booleans()), max_size=80),
    st.sampled_from([None, 0, 7]),
)
@settings(deadline=None)
def test_a_client_that_fetches_nothing_of_what_is_there_is_replaced_and_no_other(
    steps: list[tuple[float, bool]], waiting: int | None
) -> None:
    """A loop that tries its last batch again asks for nothing meanwhile: it is not starved."""
    clock, member = ManualClock(), Told(waiting=waiting)
    reading = Reading(clock, LIMIT_SECONDS)
    reading.turn(member)
    hungry_seconds = 0.0
    for step, tries_again in steps:
        clock.move(step)
        member.starved = 0.0 if tries_again else member.starved + step
        before = member.begun_anew
        hungry_seconds = member.starved
        reading.turn(member)
        if member.begun_anew != before:
            assert (waiting, hungry_seconds >= 2 * LIMIT_SECONDS) == (7, True)
    if waiting == 7:
        assert member.starved <= 2 * LIMIT_SECONDS + LIMIT_SECONDS / 3 + 10


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
    member = Told(waiting=3)
    clock = ManualClock()
    reading = Reading(clock, LIMIT_SECONDS)
    for number in range(100):
        member.read = number
        clock.move(1)
        reading.turn(member)
    assert member.asked == 0
    for _ in range(100):
        clock.move(1)
        reading.turn(member)
    assert member.asked == 10


def test_whoever_gets_records_is_a_member_and_is_not_asked() -> None:
    member = Told()
    reading = Reading(ManualClock(), LIMIT_SECONDS)
    for number in range(100):
        member.read = number + 1
        reading.turn(member)
        assert reading.trouble() is None
    assert member.asked_for_membership == 0
    member.member = False
    reading.turn(member)
    assert reading.trouble() is not None


steps = st.lists(st.floats(0.01, 10), max_size=60)


@given(steps, st.lists(st.tuples(st.booleans(), st.integers(0, 3)), min_size=60, max_size=60))
@settings(deadline=None)
def test_whoever_gets_what_is_there_is_never_in_trouble(
    steps: list[float], came: list[tuple[bool, int]]
) -> None:
    """Records may be there at any moment; each is given out by the next turn."""
    clock, member = ManualClock(), Told()
    reading = Reading(clock, LIMIT_SECONDS)
    reading.turn(member)
    for step, (is_there, count) in zip(steps, came, strict=False):
        clock.move(step)
        member.read += member.waiting or 0
        member.waiting = count if is_there else 0
        reading.turn(member)
        assert reading.trouble() is None


@given(steps, steps, st.sampled_from([None, 1, 1000]))
@settings(deadline=None)
def test_whoever_gets_nothing_of_what_is_there_is_in_trouble_soon_and_well_when_it_comes(
    before: list[float], steps: list[float], waiting: int | None
) -> None:
    clock, member = ManualClock(), Told()
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
        reading.turn(member)
        in_trouble = reading.trouble() is not None
        assert in_trouble or stuck_seconds <= LIMIT_SECONDS + LIMIT_SECONDS / 3 + 10
    member.read += 1
    reading.turn(member)
    assert reading.trouble() is None
