"""The ledger in memory is the real ledger, statement by statement.

Goal: what the simulator proves on the ledger in memory holds for the one in Postgres. Method: the
same random commands to both, on a clock that the test moves; every answer and every row of every
table must be equal after each.
"""

import asyncio
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.backbone.ledger.alerts.intake import NewAlert, NewDelivery
from services.backbone.ledger.database import async_pool, open_pool
from services.backbone.ledger.deliveries.claims import Due, Settlement
from services.backbone.ledger.deliveries.evidence import Evidence, EvidenceKind
from services.backbone.ledger.deliveries.sweeps import Ruling
from services.backbone.ledger.operators.words import RESEND, Word
from services.backbone.ledger.schema import migrate
from services.backbone.settings import LedgerSettings
from services.contracts.records import Delivery, Severity
from services.contracts.states import State
from tests.simulation.memory.comparing import Both
from tests.simulation.memory.words import CLOSE
from tests.unit.deliverer.builders import delivery

pytestmark = pytest.mark.postgres

OWNERS: Final = ("a", "b")
RECIPIENTS: Final = ("someone", "another")
KNOWN: Final = tuple(
    (
        severity,
        tuple(delivery(n, recipient=to, severity=severity) for to in RECIPIENTS[: 1 + n % 2]),
    )
    for n, severity in enumerate((Severity.CRITICAL, Severity.WARNING, Severity.INFO))
)
ELSEWHERE: Final = (Severity.INFO, (delivery(3, channel="email"),))
ALERTS: Final = (*KNOWN, ELSEWHERE)
IDS: Final = tuple(each.delivery_id for _, group in ALERTS for each in group)
PATHS: Final[tuple[tuple[State, State, State | None], ...]] = (
    (State.SENT, State.SENT, State.SENT),
    (State.RETRY_WAIT, State.RETRY_WAIT, State.RETRY_WAIT),
    (State.RETRY_WAIT, State.HELD, State.HELD),
    (State.FAILED, State.FAILED, None),
    (State.IN_DOUBT, State.IN_DOUBT, None),
    (State.IN_DOUBT, State.RETRY_WAIT, State.RETRY_WAIT),
)
WAITS: Final = (0.0, 1.0, 10.0, 31.0, 61.0, 400.0)

Command = tuple[str, int, int, int]
"""A name and three numbers that choose."""
NAMES: Final = ("accept", "publish", "outbox", "claim", "claim", "due", "due", "turn", "states")
MORE_NAMES: Final = ("settle", "settle", "settle", "sweep", "rule", "rule", "wait", "wait")
EVIDENCE_NAMES: Final = ("give", "give", "give", "weigh", "look_up", "tell", "word", "word")


@pytest.fixture
def migrated(empty_database: str) -> str:
    migrate(LedgerSettings.model_validate({"postgres_url": empty_database}))
    return empty_database


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    commands=st.lists(
        st.tuples(
            st.sampled_from(NAMES + MORE_NAMES + EVIDENCE_NAMES),
            st.integers(0, 63),
            st.integers(0, 63),
            st.integers(0, 63),
        ),
        min_size=10,
        max_size=50,
    )
)
def test_every_statement_does_the_same_in_memory(migrated: str, commands: list[Command]) -> None:
    asyncio.run(_history(migrated, commands))


async def _history(url: str, commands: list[Command]) -> None:
    one = LedgerSettings.model_validate({"postgres_url": url, "postgres_pool_size": 1})
    with open_pool(one) as pool:
        async with async_pool(one) as waiting_pool:
            both = Both(pool, waiting_pool, "webhook")
            await both.begin()
            for command in (("accept", 3, 0, 0), *commands):
                await _give(both, *command)
                both.check()


async def _give(both: Both, name: str, some: int, other: int, third: int) -> None:
    owner = OWNERS[some % 2]
    ids = [each for bit, each in enumerate(IDS) if third >> bit & 1]
    match name:
        case "accept" | "publish" | "outbox":
            _take_in(both, name, some, other, third)
        case "claim":
            # Kafka may tell one delivery several times in one batch.
            await both.by_id(owner, ids * (1 + other % 2))
        case "due":
            await both.due(owner, _due(other, third))
        case "turn":
            await both.due_in_turn(owner, _due(other, third))
        case "states":
            await both.states(owner, [*ids, "unknown"])
        case "settle":
            await _settle(both, owner, other, third)
        case "sweep":
            known = [(each.delivery_id, each.fence) for each in both.claims[other % 8 :]]
            await both.sweep(owner, known)
        case "rule":
            await _rule(both, owner, other)
        case "wait":
            await both.pass_time(WAITS[other % len(WAITS)])
        case _:
            await _find_out(both, name, some, other, third)


async def _find_out(both: Both, name: str, some: int, other: int, third: int) -> None:
    match name:
        case "give":
            await both.give(_evidence(some, other, third))
        case "weigh":
            await both.weigh()
        case "tell":
            await both.tell()
        case "word":
            both.word(Word(IDS[some % len(IDS)], (RESEND, CLOSE)[other % 2], "ann", "so"))
        case _:
            await both.look_up(OWNERS[some % 2], WAITS[other % 3], third % 2 == 0)


def _take_in(both: Both, name: str, some: int, other: int, third: int) -> None:
    match name:
        case "accept":
            both.accept([_new(group) for bit, (_, group) in enumerate(ALERTS) if some >> bit & 1])
        case "publish":
            both.publish([each for bit, each in enumerate(IDS) if third >> bit & 1])
        case _:
            both.outbox(IDS[some % len(IDS)], WAITS[other % 3], 1 + third % 4)


def _due(some: int, other: int) -> Due:
    only = None if some % 3 else [RECIPIENTS[other % 2]]
    return Due(1 + some % 3, only=only, without=RECIPIENTS[:1] if other % 5 == 0 else ())


async def _settle(both: Both, owner: str, some: int, other: int) -> None:
    """Settle one or two claims, of which some are long past."""
    told = {}
    for claim in both.claims[-1 - some % 6 :][:2]:
        outcome, after, late = PATHS[other % len(PATHS)]
        told[claim.delivery_id] = Settlement(
            claim.delivery_id,
            claim.fence,
            outcome,
            after,
            late,
            float(some % 3),
            "so",
            "p" * (other % 2),
        )
    await both.settle(owner, list(told.values()))


async def _rule(both: Both, owner: str, some: int) -> None:
    rulings = []
    for row in await both.doubtful(owner, WAITS[some % 3], some % 4 - 1):
        after = (State.SENT, State.RETRY_WAIT, State.HELD)[some % 3]
        fence = row.fence - (some % 5 == 4)
        rulings.append(Ruling(row.delivery_id, fence, after, some % 2 == 0, "ruled"))
    await both.rule(owner, rulings)


def _evidence(some: int, other: int, third: int) -> list[Evidence]:
    """One to three pieces about one or two deliveries, one of them perhaps unknown."""
    pieces = []
    for index in range(1 + some % 3):
        kind = tuple(EvidenceKind)[(other + index) % 4]
        attempt = (third + index) % 3
        key = IDS[(some + index * (other % 2)) % len(IDS)] if third % 7 else "unknown"
        least = 1 if kind is EvidenceKind.ABSENT else 0
        name = ("", "p", "q")[(some // 3 + index) % 3]
        source = ("callback", "look-up")[other % 2]
        detail = f"{kind} {name}" if third % 2 else ""
        pieces.append(Evidence(key, kind, source, name, detail, max(least, attempt)))
    return pieces


def _new(group: tuple[Delivery, ...]) -> NewAlert:
    alert = group[0].alert
    deliveries = tuple(NewDelivery(each, each.encode()) for each in group)
    return NewAlert(alert, alert.encode(), "test", deliveries)
