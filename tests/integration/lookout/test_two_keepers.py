"""Two keepers at once, or one that dies in the middle, judge each row once."""

import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
from pydantic import SecretStr

from services.backbone.ledger.alerts.intake import Intake
from services.backbone.ledger.alerts.outbox import Outbox
from services.backbone.ledger.alerts.suppressions import Moved, Ruling, Suppressions, Waiting
from services.backbone.ledger.database import Pool, open_pool
from services.backbone.settings import LedgerSettings
from services.contracts.states import State
from services.lookout.decisions.rejudgement import Rejudgement
from services.lookout.routing import Routes
from services.lookout.standing import Standing
from tests.integration.lookout.test_suppressions import LONG_AGO, group, quiet, recorded, stored
from tests.unit.lookout.samples import sample

pytestmark = pytest.mark.postgres

JUDGE = Rejudgement(Routes((), ()), Standing(), timedelta(hours=1))


def keep(url: str) -> list[Moved]:
    """Judge small pages until nothing is left, as a lookout of its own."""
    moved: list[Moved] = []
    with open_pool(LedgerSettings(postgres_url=SecretStr(url))) as pool:
        suppressions = Suppressions(pool, limit=3)
        while suppressed(pool):  # what the other has in hand counts until it has committed
            moved += suppressions.judge_due(JUDGE.released)
            moved += suppressions.judge_groups(JUDGE.gathered)
    return moved


def test_two_keepers_at_once_release_and_gather_once(
    pool: Pool, intake: Intake, outbox: Outbox, ledger_url: str
) -> None:
    for number in range(40):
        recorded(intake, sample(number), quiet(LONG_AGO))
    found_at_ms = int(time.time() * 1000)
    for number in range(40, 80):
        found = sample(number, detected_at_ms=found_at_ms)
        recorded(intake, found, group(LONG_AGO, limit=7))
    with ThreadPoolExecutor(2) as two:
        first, second = two.map(keep, [ledger_url, ledger_url])
    moved = Counter(each.delivery_id for each in first + second)
    assert len(moved) == 80
    assert set(moved.values()) == {1}
    out = [each for each in first + second if each.after is State.PENDING]
    texts = [stored(outbox, each).text for each in out]
    for number in range(40, 80):
        told = [text for text in texts if sample(number).alert_id in text]
        alone = [text for text in texts if text == sample(number).summary]
        assert len(told) + len(alone) == 1, "told in one digest, or alone"
    assert suppressed(pool) == 0


def test_what_was_judged_when_the_keeper_died_is_judged_again(pool: Pool, intake: Intake) -> None:
    recorded(intake, sample(1), quiet(LONG_AGO))

    def dies(_: datetime, __: Sequence[Waiting]) -> Sequence[Ruling]:
        raise KeyboardInterrupt

    suppressions = Suppressions(pool)
    with pytest.raises(KeyboardInterrupt):
        suppressions.judge_due(dies)
    assert suppressed(pool) == 1
    assert [each.after for each in suppressions.judge_due(JUDGE.released)] == [State.PENDING]


def test_what_has_waited_too_long_is_held_for_a_person(pool: Pool, intake: Intake) -> None:
    recorded(intake, sample(1), quiet(LONG_AGO))
    with pool.connection() as connection:
        connection.execute("UPDATE deliveries SET created_at = ledger_now() - interval '2 hours'")
    (held,) = Suppressions(pool).judge_due(JUDGE.released)
    assert held.after is State.HELD
    assert "too old" in held.reason


def suppressed(pool: Pool) -> int:
    with pool.connection() as connection:
        query = "SELECT count(*) FROM deliveries WHERE state = 'SUPPRESSED'"
        return int(connection.execute(query).fetchall()[0][0])
