"""Every state has a sentence that people understand."""

from dataclasses import replace

import pytest

from services.backbone.ledger.answers.sentences import Stop, Told, absent, sentence
from services.contracts.states import State

AT_MS = 1_795_253_400_125
TOLD = Told("SENT", attempt=1, marked_repeat=False, reason="", updated_at_ms=AT_MS)
WHEN = "2026-11-21 09:30:00Z"
STOP = Stop("sms", "ann", "the carrier repeats", AT_MS)
STOPPED = f"; ann has stopped channel sms since {WHEN}: the carrier repeats"


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
        (
            replace(TOLD, state="PENDING", attempt=0, stop=STOP),
            f"not sent yet: waits to be sent since {WHEN}{STOPPED}",
        ),
        (
            replace(TOLD, state="RETRY_WAIT", reason="429", next_attempt_at_ms=AT_MS, stop=STOP),
            f"not sent yet: tried 1 times, last 429; next try at {WHEN}{STOPPED}",
        ),
        (replace(TOLD, stop=STOP), f"sent once at {WHEN}"),
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


def test_what_was_set_aside_says_where_it_is() -> None:
    assert absent("5faf0a92", None) == "the ledger has no alert 5faf0a92"
    aside = f"alert 5faf0a92 was set aside, as was noted at {WHEN}: topic alerts.rejected has it"
    assert absent("5faf0a92", AT_MS).startswith(aside)
