"""What becomes of a delivery after a send: pure functions of outcome, policy and attempt."""

import random
from dataclasses import dataclass
from typing import Final

from services.backbone.backoff import Backoff
from services.backbone.storable import storable
from services.contracts.records import Severity
from services.contracts.states import State
from services.deliverer.outcomes import Accepted, Outcome, Permanent, Refused, Unknown


@dataclass(frozen=True, slots=True)
class Policy:
    """How one channel repeats and doubts."""

    dedupes_by_key: bool
    repeats: frozenset[Severity]
    attempts_limit: int
    backoff: Backoff
    retry_after_limit_seconds: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """Moves to make, in order; `late` is made instead if the row is IN_DOUBT by now.

    A late answer of the same claim is evidence: it may end the doubt, and never make one.
    """

    path: tuple[State, ...]
    late: tuple[State, ...] = ()
    retry_in_seconds: float = 0.0
    marked_repeat: bool = False
    reason: str = ""
    provider_id: str = ""


REASON_LIMIT: Final = 500
"""Characters of a reason, or of a provider's name for a message, that are kept."""
_NO_EVIDENCE: Final = "no evidence whether it was taken"


def decide(outcome: Outcome, attempt: int, policy: Policy, rng: random.Random) -> Verdict:
    """Return the moves from CLAIMED after try number `attempt` (the first is 1)."""
    match outcome:
        case Accepted(provider_id):
            sent = (State.SENT,)
            return Verdict(sent, late=sent, provider_id=storable(provider_id, REASON_LIMIT))
        case Permanent(reason):
            return Verdict((State.FAILED,), reason=storable(reason, REASON_LIMIT))
        case Refused():
            again = (State.RETRY_WAIT,) if outcome.own_pace else _again(attempt, policy)
            wait = _wait(outcome, attempt, policy, rng)
            return Verdict(again, again, wait, reason=_counted(outcome.reason, again, attempt))
        case Unknown(reason):
            return _unknown(reason, attempt, policy, rng)


def decide_doubt(severity: Severity, attempt: int, repeated: bool, policy: Policy) -> Verdict:
    """Return the moves from IN_DOUBT when the time for evidence is over.

    `repeated` tells that this delivery has been sent as a marked repeat before: one is enough.
    """
    if policy.dedupes_by_key:
        again = _again(attempt, policy)[-1:]
        return Verdict(again, reason=_counted("the receiver drops repeats by key", again, attempt))
    if severity not in policy.repeats:
        return Verdict((State.HELD,), reason=_NO_EVIDENCE)
    if repeated:
        return Verdict((State.HELD,), reason="in doubt again after a marked repeat")
    if attempt >= policy.attempts_limit:
        held = (State.HELD,)
        return Verdict(held, reason=_counted(_NO_EVIDENCE, held, attempt))
    reason = f"{_NO_EVIDENCE}: repeated with a mark"
    return Verdict((State.RETRY_WAIT,), marked_repeat=True, reason=reason)


def _unknown(reason: str, attempt: int, policy: Policy, rng: random.Random) -> Verdict:
    if not policy.dedupes_by_key:
        return Verdict((State.IN_DOUBT,), reason=storable(reason, REASON_LIMIT))
    again = _again(attempt, policy)[-1:]
    wait = policy.backoff.seconds(attempt, rng)
    told = _counted(reason, again, attempt)
    return Verdict((State.IN_DOUBT, *again), again, wait, reason=told)


def _again(attempt: int, policy: Policy) -> tuple[State, ...]:
    """Wait for the next try, or for a person after the last; a passing failure never FAILS."""
    if attempt < policy.attempts_limit:
        return (State.RETRY_WAIT,)
    return State.RETRY_WAIT, State.HELD


def _wait(refused: Refused, attempt: int, policy: Policy, rng: random.Random) -> float:
    asked = refused.retry_after_seconds or 0.0
    if refused.own_pace:  # each has a time of its own, which a limit would make the same for many
        return asked
    limited = min(asked, policy.retry_after_limit_seconds)
    return max(limited, policy.backoff.seconds(attempt, rng))


def _counted(reason: str, path: tuple[State, ...], attempt: int) -> str:
    suffix = f" (held after {attempt} attempts)" if State.HELD in path else ""
    return storable(reason, REASON_LIMIT - len(suffix)) + suffix
