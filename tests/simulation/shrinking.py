"""Shrinking: take away what is not needed for the failure, greedily, until nothing more can go."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from tests.simulation.history import Failure, failure_of
from tests.simulation.plan import Plan

TRIES_LIMIT: Final = 2000
"""Plans that are run at most for one failure."""

Try = Callable[[Plan], Failure | None]


def shrunk(failure: Failure, attempt: Try = failure_of) -> Failure:
    """Return a failure of the same kind from the smallest plan that was found."""
    best, tries = failure, 0
    improved = True
    while improved and tries < TRIES_LIMIT:
        improved = False
        for plan in _smaller(best.plan):
            tries += 1
            found = attempt(plan)
            if found is not None and found.kind == failure.kind:
                best, improved = found, True
                break
    return best


def _smaller(plan: Plan) -> Iterator[Plan]:
    """Yield plans that have a little less, those that lose most first."""
    for size in (4, 2, 1):
        for start in range(0, len(plan.faults), size):
            kept = plan.faults[:start] + plan.faults[start + size :]
            yield replace(plan, faults=kept)
    for index in range(len(plan.alerts)):
        if len(plan.alerts) > 1:
            yield replace(plan, alerts=plan.alerts[:index] + plan.alerts[index + 1 :])
    for index in range(len(plan.sayings)):
        yield replace(plan, sayings=plan.sayings[:index] + plan.sayings[index + 1 :])
    yield from _plainer(plan)
    yield from _fewer_copies(plan)


def _plainer(plan: Plan) -> Iterator[Plan]:
    if plan.keeping and not plan.sayings:
        yield replace(plan, keeping=False)
    used = {fault.who for fault in plan.faults}
    if plan.lookouts > 1 and "lookout-1" not in used:
        yield replace(plan, lookouts=1, mirrored=plan.mirrored - {"lookout"})
    if plan.deliverers > 1 and "deliverer-1" not in used:
        yield replace(plan, deliverers=1, mirrored=plan.mirrored - {"deliverer"})
    if plan.partitions > 1:
        yield replace(plan, partitions=1)
    if plan.per_second is not None:
        yield replace(plan, per_second=None)
    if plan.per_recipient:
        yield replace(plan, per_recipient=False)
    if plan.jitter:
        yield replace(plan, jitter=False)


def _fewer_copies(plan: Plan) -> Iterator[Plan]:
    for index, alert in enumerate(plan.alerts):
        if len(alert.told_at_seconds) > 1:
            once = replace(alert, told_at_seconds=alert.told_at_seconds[:1])
            yield replace(plan, alerts=(*plan.alerts[:index], once, *plan.alerts[index + 1 :]))
