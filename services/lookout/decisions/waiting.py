"""Whether a message that is held back stands for one more to the same recipient."""

from collections.abc import Iterable, Mapping
from typing import Any

from services.lookout.decisions.plans import read_plan
from services.lookout.routing import Instruction, Routes


def stands_for(plans: Iterable[Mapping[str, Any]], told: Instruction, routes: Routes) -> bool:
    """Tell whether one of the messages that wait goes no later than one more, and leads as far.

    `plans` are those of untried and young messages to the recipient that wait for no group.
    """
    waiting = (read_plan(each, told.target, routes) for each in plans)
    return any(_goes_as_soon(each, told) and _leads_as_far(each, told) for each in waiting)


def _goes_as_soon(waiting: Instruction, told: Instruction) -> bool:
    return waiting.quiet in (None, told.quiet) and waiting.grouping is None


def _leads_as_far(waiting: Instruction, told: Instruction) -> bool:
    """Who is told after a step's failure is told anew, also if a route has told them before."""
    alike = (waiting.fallback, waiting.fallback_on_held) == (told.fallback, told.fallback_on_held)
    is_anew = told.since is None or waiting.since is not None
    return not told.fallback or (alike and is_anew)
