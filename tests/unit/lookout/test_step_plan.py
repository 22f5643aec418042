"""A step is read from its row as it was recorded, also by a version before."""

from typing import Any

import orjson
from hypothesis import given

from services.lookout.decisions.step_plan import StepPlan
from services.lookout.routing import Instruction, Quiet, Routes, Step, Target
from tests.unit.lookout.test_following import steps
from tests.unit.lookout.test_judgement import TIMES

ROW: dict[str, Any] = {
    "tell": [
        {
            "channel": "sms",
            "recipient": "+4917012345678",
            "plan": {
                "route": "desk",
                "fallback": [{"channel": "email", "recipient": "desk@example.com"}],
                "quiet": {"times": "nights", "outside": False, "unless": []},
            },
        },
        {"channel": "pagerduty", "recipient": "night", "plan": {"route": "desk"}},
    ],
    "after_seconds": 300.0,
    "repeat_every_seconds": 60.0,
    "repeat_times": 5,
    "slower": 1.5,
    "steps": 3,
}
"""As the ledger has it of every version so far."""
PHONE = Instruction(
    Target("sms", "+4917012345678"),
    "desk",
    fallback=(Target("email", "desk@example.com"),),
    quiet=Quiet(TIMES["nights"]),
)
PAGER = Instruction(Target("pagerduty", "night"), "desk")
PLAN = StepPlan(Step(300.0, (PHONE, PAGER), 60.0, 5, 1.5), 3)
ROUTES = Routes((), (), times=TIMES)


def test_a_row_that_was_recorded_before_is_read_and_written_again_as_it_is() -> None:
    assert StepPlan.read(ROW, ROUTES) == PLAN
    assert orjson.loads(PLAN.encode()) == ROW


def test_a_step_that_comes_once_says_so() -> None:
    once = StepPlan.read(ROW | {"repeat_every_seconds": None, "repeat_times": 0}, ROUTES)
    assert (once.step.repeat_every_seconds, once.step.repeat_times) == (None, 0)


@given(steps)
def test_every_step_comes_back_as_it_was(step: Step) -> None:
    plan = StepPlan(step, 2)
    assert StepPlan.read(orjson.loads(plan.encode()), ROUTES) == plan
