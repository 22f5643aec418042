"""Runs plans, one after the other, and says what each came to."""

from dataclasses import dataclass

import structlog

from tests.simulation.kernel import Violation
from tests.simulation.plan import Plan
from tests.simulation.world import World


@dataclass(frozen=True, slots=True)
class Failure:
    """A broken promise, and the timeline up to it: (seconds, who, what)."""

    plan: Plan
    reason: str
    timeline: tuple[tuple[float, str, str], ...] = ()

    @property
    def kind(self) -> str:
        """What was broken, without what differs from history to history."""
        return self.reason.partition(":")[0]


def quiet() -> None:
    """Let this process log nothing: programs under test would log each of their moves."""
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(50), cache_logger_on_first_use=True
    )


def failure_of(plan: Plan, *, traced: bool = False) -> Failure | None:
    """Live through a plan; return what was broken, or None."""
    timeline: list[tuple[float, str, str]] = []
    world = World(plan, (lambda *line: timeline.append(line)) if traced else None)
    try:
        world.run()
    except Violation as broken:
        return Failure(plan, str(broken), tuple(timeline))
    except Exception as bug:  # what would have ended a program is a finding like any other
        return Failure(plan, f"bug: {bug!r}", tuple(timeline))
    finally:
        world.close()
    return None
