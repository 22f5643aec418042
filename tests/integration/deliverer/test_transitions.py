"""Every line of the table in docs/delivery.md on a real Postgres: one case each, no line more."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from services.backbone.backoff import Backoff
from services.backbone.ledger.alerts.suppressions import Ruling as Ruled
from services.backbone.ledger.alerts.suppressions import Suppressions, Waiting
from services.backbone.ledger.database import AsyncPool, async_pool, open_pool
from services.backbone.ledger.deliveries.claims import Claim, Claims, Settlement
from services.backbone.ledger.deliveries.evidence import AsyncEvidenceBook, Evidence, EvidenceKind
from services.backbone.ledger.deliveries.sweeps import Ruling, Sweeps
from services.backbone.ledger.deliveries.untold import UntoldMoves
from services.backbone.ledger.operators.words import Word, give
from services.backbone.settings import LedgerSettings
from services.contracts.records import Severity
from services.contracts.states import State, may_move
from services.deliverer.decision import Policy, Verdict, decide, decide_doubt
from services.deliverer.outcomes import Accepted, Outcome, Permanent, Refused, Unknown
from tests.integration.deliverer.ledgers import Ledger
from tests.unit.deliverer.builders import delivery

pytestmark = pytest.mark.postgres

DOCUMENT: Final = Path(__file__).parents[3] / "docs" / "delivery.md"
ONE: Final = delivery(1, severity=Severity.WARNING)
KEY: Final = ONE.delivery_id
LONG: Final = 3600.0


@dataclass
class Stage:
    """One delivery on its way."""

    ledger: Ledger
    pool: AsyncPool
    settings: LedgerSettings

    async def claim(self, lease: float = LONG) -> tuple[Claims, Claim]:
        claims = Claims(
            self.pool, channel="webhook", owner="me", lease_seconds=lease, age_limit_seconds=LONG
        )
        (claim,) = await claims.by_id([KEY], 1)
        return claims, claim

    async def settle(self, claims: Claims, claim: Claim, outcome: Outcome, limit: int = 9) -> None:
        verdict = decide(outcome, claim.attempt, policy(attempts_limit=limit), Random(1))
        await claims.settle([settlement(claim, verdict)])

    async def sent_with(self, outcome: Outcome, limit: int = 9) -> None:
        await self.settle(*await self.claim(), outcome, limit)

    async def doubt_after_lease(self) -> tuple[Claims, Claim]:
        mine = await self.claim(lease=0.0)
        await self.sweeps().lease_over()
        return mine

    async def rule(self, repeated: bool = False, **changes: Any) -> None:
        await self.sent_with(Unknown("silence"))
        (row,) = await self.sweeps().doubtful(0.0)
        verdict = decide_doubt(row.severity, row.attempt, repeated, policy(**changes))
        after, marked = verdict.path[-1], verdict.marked_repeat
        await self.sweeps().rule([Ruling(KEY, row.fence, after, marked, verdict.reason)])

    async def evidence(self, kind: EvidenceKind) -> None:
        told = Evidence(KEY, kind, "test", "theirs", attempt=1)
        await AsyncEvidenceBook(self.pool).give([told])

    def word(self, action: str) -> None:
        give(self.settings, Word(KEY, action, "ann", "she said so"))

    def sweeps(self, age_limit: float = LONG) -> Sweeps:
        return Sweeps(self.pool, channel="webhook", owner="me", age_limit_seconds=age_limit)

    async def come_to(self, state: State) -> None:
        """Bring the delivery to where a line begins."""
        match state:
            case State.RETRY_WAIT:
                await self.sent_with(Refused("busy"))
                self.ledger.execute("UPDATE deliveries SET next_attempt_at = now()")
            case State.IN_DOUBT:
                await self.sent_with(Unknown("silence"))
            case State.HELD:
                await self.rule()
            case State.FAILED:
                await self.sent_with(Permanent("never"))
            case State.SENT:
                await self.sent_with(Accepted("theirs"))
            case State.SUPPRESSED:
                await self.sent_with(Unknown("silence"))
                self.ledger.execute("UPDATE deliveries SET state = 'SUPPRESSED'")

    def release(self) -> None:
        """Do as a keeper does when nothing holds the delivery back any more."""
        with open_pool(self.settings) as pool:
            (moved,) = Suppressions(pool).judge_due(_released)
        assert (moved.before, moved.after) == (State.SUPPRESSED, State.PENDING)

    def state(self) -> State:
        return State(self.ledger.states()[KEY])


def policy(**changes: Any) -> Policy:
    usual: dict[str, Any] = {
        "dedupes_by_key": False,
        "repeats": frozenset[Severity](),
        "attempts_limit": 9,
        "backoff": Backoff(1.0),
        "retry_after_limit_seconds": LONG,
    }
    return Policy(**usual | changes)


def settlement(claim: Claim, verdict: Verdict) -> Settlement:
    late = verdict.late[-1] if verdict.late else None
    return Settlement(KEY, claim.fence, verdict.path[0], verdict.path[-1], late)


def _released(_: datetime, rows: Sequence[Waiting]) -> list[Ruled]:
    return [Ruled(row, State.PENDING, "test", "released: silence:s is over") for row in rows]


async def too_old(stage: Stage) -> None:
    stage.ledger.execute("UPDATE deliveries SET created_at = now() - interval '2 hours'")
    await stage.sweeps().too_old()


async def late(stage: Stage, outcome: Outcome) -> None:
    await stage.settle(*await stage.doubt_after_lease(), outcome)


async def claim_answer_lost(stage: Stage) -> None:
    await stage.claim()
    sweeps = stage.sweeps()
    await sweeps.give_back(await sweeps.lost([]))


Act = Callable[[Stage], Awaitable[Any]]


def sent(outcome: Outcome, limit: int = 9) -> Act:
    return lambda stage: stage.sent_with(outcome, limit)


def found(kind: EvidenceKind) -> Act:
    return lambda stage: stage.evidence(kind)


def released(kind: EvidenceKind) -> Act:
    async def act(stage: Stage) -> None:
        await stage.come_to(State.SUPPRESSED)
        stage.release()
        await stage.evidence(kind)

    return act


def said(action: str) -> Act:
    async def act(stage: Stage) -> None:
        stage.word(action)

    return act


def answered_late(outcome: Outcome) -> Act:
    return lambda stage: late(stage, outcome)


def ruled(**changes: Any) -> Act:
    return lambda stage: stage.rule(**changes)


OPEN: Final = "IN_DOUBT, HELD, RETRY_WAIT, SUPPRESSED"
RELEASED: Final = "tried, silenced and released; then evidence: "
TRY_AGAIN: Final = "PENDING, RETRY_WAIT"
# Lines that begin at CLAIMED, and all about one doubt, make their own way there.
LINES: Final[dict[tuple[str, str, str], Act]] = {
    (TRY_AGAIN, "claimed", "CLAIMED"): Stage.claim,
    ("CLAIMED", "accepted", "SENT"): sent(Accepted()),
    ("CLAIMED", "provably not taken", "RETRY_WAIT"): sent(Refused("busy")),
    (
        "CLAIMED",
        "provably not taken at the last of `attempts_limit` tries",
        "HELD",
    ): sent(Refused("busy"), 1),
    ("CLAIMED", "refused for good", "FAILED"): sent(Permanent("never")),
    ("CLAIMED", "no clear answer", "IN_DOUBT"): sent(Unknown("silence")),
    ("CLAIMED", "its owner's lease is over", "IN_DOUBT"): Stage.doubt_after_lease,
    (
        "CLAIMED",
        "the claim's answer was lost, so it was never sent",
        "RETRY_WAIT",
    ): claim_answer_lost,
    ("IN_DOUBT", "a late answer of the same claim: accepted", "SENT"): answered_late(Accepted()),
    (
        "IN_DOUBT",
        "a late answer of the same claim: provably not taken",
        "RETRY_WAIT",
    ): answered_late(Refused("busy")),
    ("IN_DOUBT", "the receiver drops repeats by key", "RETRY_WAIT"): ruled(dedupes_by_key=True),
    (OPEN, "evidence: taken", "SENT"): found(EvidenceKind.TAKEN),
    (OPEN, "evidence: the recipient has it", "CONFIRMED"): found(EvidenceKind.CONFIRMED),
    (OPEN, "evidence: taken, and not delivered", "FAILED"): found(EvidenceKind.UNDELIVERED),
    ("PENDING", RELEASED + "taken", "SENT"): released(EvidenceKind.TAKEN),
    ("PENDING", RELEASED + "the recipient has it", "CONFIRMED"): released(EvidenceKind.CONFIRMED),
    ("PENDING", RELEASED + "taken, and not delivered", "FAILED"): released(
        EvidenceKind.UNDELIVERED
    ),
    ("IN_DOUBT", "evidence: not taken, and never will be", "RETRY_WAIT"): found(
        EvidenceKind.ABSENT
    ),
    ("IN_DOUBT", "no evidence until the deadline, severity is held", "HELD"): ruled(),
    ("IN_DOUBT", "no evidence until the deadline, severity is repeated", "RETRY_WAIT"): ruled(
        repeats=frozenset({Severity.WARNING})
    ),
    ("IN_DOUBT", "no evidence until the deadline, after a marked repeat", "HELD"): ruled(
        repeats=frozenset({Severity.WARNING}), repeated=True
    ),
    (
        "IN_DOUBT",
        "no evidence until the deadline, at the last of `attempts_limit` tries",
        "HELD",
    ): ruled(repeats=frozenset({Severity.WARNING}), attempts_limit=1),
    ("SENT", "evidence: the recipient has it", "CONFIRMED"): found(EvidenceKind.CONFIRMED),
    ("SENT", "evidence: not delivered", "FAILED"): found(EvidenceKind.UNDELIVERED),
    (TRY_AGAIN, "older than `age_limit_hours`", "HELD"): too_old,
    ("HELD, FAILED, IN_DOUBT", "a person: send again", "RETRY_WAIT"): said("resend"),
    ("HELD, FAILED", "a person: close", "CLOSED"): said("close"),
    ("HELD, IN_DOUBT", "a person: it arrived", "SENT"): said("arrived"),
}
MAKE_THEIR_OWN_WAY: Final = ("CLAIMED", "a late answer", "no evidence", "the receiver drops")
CASES: Final = [
    pytest.param(State(before), what, State(after), act, id=f"{before}: {what}")
    for (befores, what, after), act in LINES.items()
    for before in befores.split(", ")
]


@pytest.fixture
async def stage(ledger: Ledger) -> AsyncIterator[Stage]:
    ledger.add(ONE)
    settings = LedgerSettings.model_validate({"postgres_url": ledger.url})
    async with async_pool(settings) as pool:
        yield Stage(ledger, pool, settings)


def test_the_document_has_these_lines_and_no_other() -> None:
    table = (
        DOCUMENT.read_text().partition("| from | what happened | to |\n")[2].partition("\n\n")[0]
    )
    lines = [tuple(cell.strip() for cell in line.split("|")[1:4]) for line in table.splitlines()]
    assert lines[1:] == list(LINES)


@pytest.mark.parametrize(("before", "what", "after", "act"), CASES)
async def test_line(stage: Stage, before: State, what: str, after: State, act: Act) -> None:
    if not f"{before}{what}".startswith("CLAIMED") and not what.startswith(MAKE_THEIR_OWN_WAY):
        await stage.come_to(before)
        assert stage.state() is before
    await act(stage)
    assert stage.state() is after
    for move in await UntoldMoves(stage.pool, "webhook").take():
        assert move.path[-1] is after
        assert all(may_move(*step) for step in pairwise((move.before, *move.path)))


async def test_only_a_doubt_that_may_have_been_taken_is_marked(stage: Stage) -> None:
    await stage.rule(repeats=frozenset({Severity.WARNING}))
    assert stage.ledger.row(ONE)["marked_repeat"]
    await stage.evidence(EvidenceKind.TAKEN)
    assert stage.state() is State.SENT
    with pytest.raises(Exception, match="no delivery"):
        stage.word("arrived")


async def test_a_repeat_that_was_silenced_and_released_is_not_sent_once_it_arrived(
    stage: Stage,
) -> None:
    await stage.come_to(State.SUPPRESSED)
    stage.release()
    stage.word("arrived")
    assert stage.state() is State.SENT
    with pytest.raises(ValueError, match="not enough values"):
        await stage.claim()


async def test_what_was_never_tried_did_not_arrive(stage: Stage) -> None:
    await AsyncEvidenceBook(stage.pool).give([Evidence(KEY, EvidenceKind.CONFIRMED, "test")])
    assert stage.state() is State.PENDING
    with pytest.raises(Exception, match="no delivery"):
        stage.word("arrived")
    await stage.claim()


async def test_proof_of_absence_takes_the_mark_from_a_persons_resend(stage: Stage) -> None:
    await stage.come_to(State.HELD)
    await stage.evidence(EvidenceKind.ABSENT)
    assert stage.state() is State.HELD
    stage.word("resend")
    assert not stage.ledger.row(ONE)["marked_repeat"]


async def test_age_counts_from_the_finding(stage: Stage) -> None:
    """As if the alert were replayed after its rows had been removed."""
    stage.ledger.execute(
        "UPDATE deliveries SET record = jsonb_set(record, '{alert,detected_at_ms}', '1000')"
    )
    with pytest.raises(ValueError, match="not enough values"):
        await stage.claim()
    await stage.sweeps().too_old()
    assert stage.state() is State.HELD
