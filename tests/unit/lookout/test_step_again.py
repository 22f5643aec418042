"""When a step of an escalation comes again, against what it says of itself."""

import math
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from services.lookout.decisions.escalation import AGAIN_LIMIT_SECONDS, again_seconds
from services.lookout.routing import Step
from tests.seen import Seen
from tests.unit.lookout.test_following import steps

slowing = st.builds(
    replace,
    steps,
    repeat_every_seconds=st.floats(1, 600),
    repeat_times=st.integers(5, 1000),
    slower=st.sampled_from([1, 1.5]) | st.floats(1, 10),
)
SEEN = Seen()


@SEEN.must_be("over", "at the limit", "slower", "the first")
@given(steps | slowing, st.integers(0, 5) | st.integers(0, 1000))
def test_a_step_comes_again_as_often_as_it_says_and_ever_later(step: Step, done: int) -> None:
    again = again_seconds(step, done)
    every = step.repeat_every_seconds
    if every is None or done >= step.repeat_times:
        SEEN.add("over")
        assert again is None
        return
    assert again is not None
    assert min(every, AGAIN_LIMIT_SECONDS) <= again * (1 + 1e-9)
    assert again <= AGAIN_LIMIT_SECONDS
    if again == AGAIN_LIMIT_SECONDS:
        SEEN.add("at the limit")
        assert math.log(every) + done * math.log(step.slower) > math.log(again) - 1e-6
        return
    SEEN.add("slower" if done and step.slower > 1 else "the first")
    assert math.isclose(again, every * step.slower**done, rel_tol=1e-6)
