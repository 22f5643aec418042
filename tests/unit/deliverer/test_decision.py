"""The decision after a send, held against the table of moves for every outcome and policy."""

import random
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from services.backbone.backoff import Backoff
from services.contracts.records import Severity
from services.contracts.states import State, may_move
from services.deliverer.decision import Policy, decide, decide_doubt
from services.deliverer.outcomes import Accepted, Outcome, Permanent, Refused, Unknown

# Clients decode what is no UTF-8 into surrogates, and leave a NUL as it is.
reasons = st.text(st.characters() | st.sampled_from("\x00\udce9"), max_size=700)
outcomes: st.SearchStrategy[Outcome] = st.one_of(
    st.builds(Accepted, reasons),
    st.builds(Refused, reasons, st.none() | st.floats(0, 1e9), st.booleans(), st.booleans()),
    st.builds(Permanent, reasons),
    st.builds(Unknown, reasons),
)
policies = st.builds(
    Policy,
    dedupes_by_key=st.booleans(),
    repeats=st.frozensets(st.sampled_from(Severity)),
    attempts_limit=st.integers(1, 50),
    backoff=st.just(Backoff(1.0, limit_seconds=300.0)),
    retry_after_limit_seconds=st.floats(1, 3600),
)
attempts = st.integers(1, 60)


def allowed(start: State, path: tuple[State, ...]) -> bool:
    return all(may_move(before, after) for before, after in pairwise((start, *path)))


@given(outcomes, attempts, policies, st.randoms(use_true_random=False))
def test_every_path_is_in_the_table(
    outcome: Outcome, attempt: int, policy: Policy, rng: random.Random
) -> None:
    verdict = decide(outcome, attempt, policy, rng)
    assert verdict.path
    assert allowed(State.CLAIMED, verdict.path)
    assert allowed(State.IN_DOUBT, verdict.late)
    assert State.IN_DOUBT not in verdict.late
    for text in (verdict.reason, verdict.provider_id):
        assert len(text) <= 512
        assert "\x00" not in text
        assert text.encode().decode() == text
    assert not verdict.marked_repeat


@given(outcomes, attempts, policies, st.randoms(use_true_random=False))
def test_only_an_acceptance_counts_as_sent_and_only_a_refusal_for_good_fails(
    outcome: Outcome, attempt: int, policy: Policy, rng: random.Random
) -> None:
    verdict = decide(outcome, attempt, policy, rng)
    assert (State.SENT in verdict.path) == isinstance(outcome, Accepted)
    assert (State.FAILED in verdict.path) == isinstance(outcome, Permanent)


@given(reasons, attempts, policies, st.randoms(use_true_random=False))
def test_the_unknown_is_repeated_only_where_the_receiver_drops_repeats(
    reason: str, attempt: int, policy: Policy, rng: random.Random
) -> None:
    verdict = decide(Unknown(reason), attempt, policy, rng)
    assert verdict.path[0] is State.IN_DOUBT
    again = State.RETRY_WAIT in verdict.path
    assert again == (policy.dedupes_by_key and attempt < policy.attempts_limit)


@given(st.floats(0, 1e9), attempts, policies, st.randoms(use_true_random=False))
def test_a_refusal_waits_as_asked_within_bounds_and_ends_with_a_person(
    asked: float, attempt: int, policy: Policy, rng: random.Random
) -> None:
    verdict = decide(Refused("busy", asked), attempt, policy, rng)
    assert verdict.retry_in_seconds >= min(asked, policy.retry_after_limit_seconds)
    assert verdict.retry_in_seconds <= max(300.0, policy.retry_after_limit_seconds)
    assert (verdict.path[-1] is State.HELD) == (attempt >= policy.attempts_limit)


@given(st.floats(0, 1e9), attempts, policies, st.randoms(use_true_random=False))
def test_what_we_put_off_ourselves_waits_as_asked_and_is_never_held(
    asked: float, attempt: int, policy: Policy, rng: random.Random
) -> None:
    verdict = decide(Refused("not yet", asked, own_pace=True), attempt, policy, rng)
    assert verdict.retry_in_seconds == asked
    assert verdict.path == verdict.late == (State.RETRY_WAIT,)


@given(st.sampled_from(Severity), attempts, st.booleans(), policies)
def test_a_doubt_ends_as_the_policy_says(
    severity: Severity, attempt: int, repeated: bool, policy: Policy
) -> None:
    verdict = decide_doubt(severity, attempt, repeated, policy)
    assert allowed(State.IN_DOUBT, verdict.path)
    again = verdict.path[-1] is State.RETRY_WAIT
    if policy.dedupes_by_key:
        assert not verdict.marked_repeat
        assert again == (attempt < policy.attempts_limit)
    else:
        assert verdict.marked_repeat == again
        may_repeat = severity in policy.repeats and not repeated
        assert again == (may_repeat and attempt < policy.attempts_limit)
    if not repeated:
        assert "after a marked repeat" not in verdict.reason
