"""A step of an escalation as the ledger keeps it, recorded with its alert and done by that."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import orjson

from services.lookout.decisions.plans import encode_plan, read_plan
from services.lookout.routing import Instruction, Routes, Step, Target


@dataclass(frozen=True, slots=True)
class StepPlan:
    """A step, and how many its escalation has."""

    step: Step
    steps: int

    def encode(self) -> bytes:
        """Return its JSON, which a lookout of another version reads too."""
        return orjson.dumps(
            {
                "tell": [_encoded(each) for each in self.step.instructions],
                "after_seconds": self.step.after_seconds,
                "repeat_every_seconds": self.step.repeat_every_seconds,
                "repeat_times": self.step.repeat_times,
                "slower": self.step.slower,
                "steps": self.steps,
            }
        )

    @classmethod
    def read(cls, plan: Mapping[str, Any], routes: Routes) -> Self:
        """Return the plan of a row; times of the week are those of today's routes."""
        step = Step(
            plan["after_seconds"],
            tuple(_read(each, routes) for each in plan["tell"]),
            plan["repeat_every_seconds"],
            plan["repeat_times"],
            plan["slower"],
        )
        return cls(step, plan["steps"])


def _encoded(told: Instruction) -> dict[str, Any]:
    return {
        "channel": told.target.channel,
        "recipient": told.target.recipient,
        "plan": orjson.Fragment(encode_plan(told)),
    }


def _read(told: Mapping[str, Any], routes: Routes) -> Instruction:
    return read_plan(told["plan"], Target(told["channel"], told["recipient"]), routes)
