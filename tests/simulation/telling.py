"""A failure, told to a person: seed, command, what went wrong in the world, and the timeline."""

from collections.abc import Iterator

from tests.simulation.history import Failure
from tests.simulation.plan import Plan

COMMAND = "python -m tests.simulation replay"


def told(failure: Failure, seed: int) -> str:
    """Return the whole story."""
    return "\n".join(_lines(failure, seed)) + "\n"


def _lines(failure: Failure, seed: int) -> Iterator[str]:
    yield f"FAILED: {failure.reason}"
    yield f"seed {seed}; run it again with: {COMMAND} {seed}"
    yield ""
    yield from _world(failure.plan)
    yield ""
    yield "timeline (seconds)"
    for at, who, what in failure.timeline:
        yield f"{at:9.3f}  {who:12} {what}"


def _world(plan: Plan) -> Iterator[str]:
    yield "the smallest world found in which it still fails"
    dedupe = "drops repeats by key" if plan.dedupes else "does not drop repeats"
    repeats = "critical ones are repeated with a mark" if plan.repeats else "doubts are held"
    for program, many in (("lookout", plan.lookouts), ("deliverer", plan.deliverers)):
        second = ", the second a mirror" if program in plan.mirrored else ""
        yield f"  {program}s {many}{second}"
    yield f"  partitions {plan.partitions}"
    yield f"  provider {dedupe}; {repeats}; at most {plan.attempts_limit} tries"
    yield f"  {plan.concurrency} sends at once, per second {plan.per_second or 'any'}"
    for alert in plan.alerts:
        times = ", ".join(f"{at:.1f}" for at in alert.told_at_seconds)
        who = f"{alert.severity.value}, for {alert.crowd}"
        yield f"  alert {alert.number}, {who}, told at {times} s"
    for saying in plan.sayings:
        yield f"  {saying}"
    for fault in plan.faults:
        yield f"  fault: {fault}"
