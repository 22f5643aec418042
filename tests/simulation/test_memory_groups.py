"""A group that one transaction cannot judge goes on alike in memory and on a real Postgres."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest

from services.backbone.ledger.alerts.intake import NewAlert, NewDelivery
from services.backbone.ledger.alerts.suppressions import (
    HELD_AGAINST_LIMIT,
    Kind,
    Ruling,
    Suppression,
    Suppressions,
    Waiting,
)
from services.backbone.ledger.schema import migrate
from services.backbone.settings import LedgerSettings
from services.contracts.states import State
from tests.simulation.memory.comparing import START
from tests.simulation.memory.suppressions import MemorySuppressions, moment
from tests.simulation.test_memory_keeper import two_ledgers
from tests.unit.deliverer.builders import delivery

pytestmark = pytest.mark.postgres

MEMBERS = 3


def grouped(number: int) -> NewAlert:
    """Return an alert of one delivery, a member of a group that is full with so many."""
    until = moment(START) + timedelta(hours=1)
    waits = Suppression(Kind.GROUP, "r", until, "grouped", "one", group_limit=MEMBERS)
    one = delivery(number)
    told = NewDelivery(one, one.encode(), b"{}", waits)
    return NewAlert(one.alert, one.alert.encode(), "test", (told,))


def release(now: datetime, rows: Sequence[Waiting]) -> list[Ruling]:
    return [Ruling(row, State.PENDING, "judge", "released") for row in rows]


async def test_of_a_full_group_that_is_cut_the_others_are_the_next_turn_s(
    empty_database: str,
) -> None:
    migrate(LedgerSettings.model_validate({"postgres_url": empty_database}))
    async with two_ledgers(empty_database) as keepers:
        both = keepers.both
        keepers.real = Suppressions(both.pool, rules=lambda: HELD_AGAINST_LIMIT)
        keepers.memory = MemorySuppressions(both.tables, members_limit=1)
        both.accept([grouped(number) for number in range(MEMBERS)])
        for gone in range(MEMBERS):
            states = [row.state for row in both.tables.rows.values()]
            assert states.count(State.PENDING) == gone
            keepers.judge("groups", "", release)
            both.check()
