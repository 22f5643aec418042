"""Every state has a sentence that people understand."""

from dataclasses import replace

import pytest

from services.backbone.ledger.sentences import Told, sentence
from services.contracts.states import State

AT_MS = 1_795_253_400_125
TOLD = Told("SENT", attempt=1, marked_repeat=False, reason="", updated_at_ms=AT_MS)
WHEN = "2026-11-21 09:30:00Z"


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (TOLD, f"sent once at {WHEN}"),
        (replace(TOLD, attempt=3), f"sent once at {WHEN}, at try 3"),
        (replace(TOLD, in_digest=True), f"sent once at {WHEN} as a digest with others"),
        (
            replace(TOLD, attempt=2, marked_repeat=True),
            f"sent once at {WHEN}, at try 2; it may be a repeat, and says so",
        ),
        (replace(TOLD, state="CONFIRMED"), f"sent once, confirmed at {WHEN}"),
        (
            replace(TOLD, state="SUPPRESSED", reason="silenced by ann: works",
                    next_attempt_at_ms=AT_MS),
            f"not sent: silenced by ann: works, until {WHEN}",
        ),
        (
            replace(TOLD, state="IN_DOUBT", reason="timeout"),
            f"in doubt since {WHEN}: timeout",
        ),
        (
            replace(TOLD, state="CLOSED", attempt=0, reason="acknowledged before it was sent"),
            f"not sent, closed at {WHEN}: acknowledged before it was sent",
        ),
        (
            replace(TOLD, state="CLOSED", attempt=2, reason="seen"),
            f"closed at {WHEN}: seen; tried 2 times before",
        ),
    ],
)  # fmt: skip
def test_it_reads_so(told: Told, words: str) -> None:
    assert sentence(told) == words


@pytest.mark.parametrize("state", State)
def test_every_state_has_one(state: State) -> None:
    assert sentence(replace(TOLD, state=state, reason="because"))


def test_an_alert_of_a_digest_stands_as_the_digest_does() -> None:
    member = replace(TOLD, state="CLOSED", attempt=0)
    carrier = replace(TOLD, state="IN_DOUBT", reason="timeout", in_digest=True)
    told = f"part of a digest: in doubt since {WHEN}: timeout"
    assert sentence(member, carrier) == told
