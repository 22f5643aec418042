"""The terms of a channel's doubts: what is waited for, and which look-up is the last to count."""

import pytest

from services.deliverer.channel import Traits
from services.deliverer.channels.log import PROMISE
from services.deliverer.doubts import DoubtTerms

TIMES = (1.0, 120.0, 600.0)


def terms(wait_seconds: float = 120.0, *, dedupes: bool = False, asked: bool = True) -> DoubtTerms:
    traits = Traits("log", PROMISE, dedupes_by_key=dedupes, look_up_after_seconds=TIMES)
    return DoubtTerms.of(traits, wait_seconds, has_witness=asked)


def test_where_the_receiver_drops_repeats_nothing_is_waited_for_and_nobody_asked() -> None:
    assert terms(dedupes=True) == DoubtTerms(0.0, ())


def test_without_a_witness_the_wait_stands_and_nobody_is_asked() -> None:
    assert terms(asked=False) == DoubtTerms(120.0, ())
    assert terms(asked=False).last_look_up == -1


@pytest.mark.parametrize(("wait_seconds", "last"), [(0.5, -1), (119.0, 0), (120.0, 1), (900.0, 2)])
def test_the_last_look_up_within_the_wait_is_waited_for(wait_seconds: float, last: int) -> None:
    assert terms(wait_seconds).last_look_up == last
