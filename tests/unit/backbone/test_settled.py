"""When what is settled is committed, held against a plain list of what happened."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from services.backbone.kafka.settled import EVERY_SECONDS, Ends, Settled

PLACES = st.sampled_from([("a", 0), ("a", 1), ("b", 0)])
SPANS = st.sampled_from([0.0, EVERY_SECONDS / 3, EVERY_SECONDS, 5.0])
ONE = {("a", 0): 1}


@dataclass
class Committed:
    """What a broker would know."""

    ends: Ends = field(default_factory=dict)
    times: list[float] = field(default_factory=list)


class AnyLife(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.settled, self.broker = Settled(), Committed()
        self.now, self.trusted = 0.0, False
        self.noted: Ends = {}

    @rule(place=PLACES, records=st.integers(1, 3))
    def settle(self, place: tuple[str, int], records: int) -> None:
        end = self.noted.get(place, 0) + records
        self.noted[place] = end
        self.settled.note({place: end})

    @rule(seconds=SPANS)
    def turn(self, seconds: float) -> None:
        self.now += seconds
        if ends := self.settled.due(self.now):
            assert self.trusted
            self.broker.times.append(self.now)
            self.broker.ends |= ends

    @rule()
    def hear_a_record(self) -> None:
        self.trusted = True
        self.settled.trust()

    @rule()
    def lose_the_brokers(self) -> None:
        self.trusted = False
        self.settled.distrust()

    @invariant()
    def nothing_unsettled_is_committed(self) -> None:
        assert all(end <= self.noted[place] for place, end in self.broker.ends.items())

    @invariant()
    def commits_are_seldom(self) -> None:
        pairs = zip(self.broker.times, self.broker.times[1:], strict=False)
        assert all(after - before >= EVERY_SECONDS for before, after in pairs)

    def teardown(self) -> None:
        self.hear_a_record()
        self.turn(EVERY_SECONDS)
        assert self.broker.ends == self.noted


test_any_life = AnyLife.TestCase


@given(st.booleans())
def test_the_last_word_is_said_at_once_to_whom_counts_on_us(trusted: bool) -> None:
    settled = Settled()
    settled.trust()
    settled.note(ONE)
    assert settled.due(0.0) == ONE
    settled.note({("a", 0): 2})
    assert settled.due(EVERY_SECONDS / 2) == {}
    if not trusted:
        settled.distrust()
    assert settled.last() == ({("a", 0): 2} if trusted else {})
    settled.trust()
    assert settled.due(9.0) == {}


@pytest.mark.parametrize("seconds", [0.0, 60.0])
def test_nothing_is_committed_before_the_group_has_given_anything(seconds: float) -> None:
    settled = Settled()
    settled.note(ONE)
    assert settled.due(seconds) == {}
