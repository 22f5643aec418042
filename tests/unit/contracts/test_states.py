"""The table of moves: what must and what must not be possible."""

import pytest

from services.contracts.states import CLAIMABLE, MOVES, TERMINAL, State, may_move


def reachable(start: State) -> set[State]:
    seen, waiting = {start}, [start]
    while waiting:
        for after in MOVES[waiting.pop()] - seen:
            seen.add(after)
            waiting.append(after)
    return seen


def test_every_state_has_its_moves_and_can_be_reached() -> None:
    assert MOVES.keys() == set(State) == reachable(State.PENDING)


def test_a_claim_comes_only_from_claimable_states() -> None:
    assert {before for before in State if may_move(before, State.CLAIMED)} == CLAIMABLE


def test_only_a_claim_or_evidence_leads_to_sent() -> None:
    senders = {before for before in State if may_move(before, State.SENT)}
    tried = {State.PENDING, State.RETRY_WAIT, State.SUPPRESSED}
    assert senders == {State.CLAIMED, State.IN_DOUBT, State.HELD} | tried


def test_an_unknown_outcome_is_never_claimed_again_by_itself() -> None:
    assert not may_move(State.IN_DOUBT, State.CLAIMED)


@pytest.mark.parametrize("state", [state for state in State if state not in TERMINAL])
def test_every_open_state_can_end(state: State) -> None:
    assert reachable(state) & TERMINAL
