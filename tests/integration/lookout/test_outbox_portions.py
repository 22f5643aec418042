"""Hundreds of large messages at once are read, released and published in portions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import psycopg
import pytest

from services.backbone.clock import ManualClock
from services.backbone.ledger.alerts.intake import Intake
from services.backbone.ledger.alerts.outbox import READ_LIMIT_BYTES, Outbox, OutboxEntry
from services.backbone.ledger.alerts.suppressions import Suppressions
from services.backbone.ledger.database import Pool
from services.backbone.service import Life
from services.lookout.duties.telling import Teller
from services.lookout.outbox.publishing import Publisher
from services.lookout.outbox.relay import Relay
from services.lookout.settings import LookoutSettings
from tests.integration.lookout.crashing import Topics
from tests.integration.lookout.test_suppressions import LONG_AGO, quiet, recorded, release
from tests.unit.lookout.samples import sample

pytestmark = pytest.mark.postgres

COUNT = 500
LARGE_BYTES = 200_000

_MULTIPLY = """
INSERT INTO deliveries (delivery_id, alert_id, channel, recipient, repetition, record, plan, state,
  reason, suppressed_by, next_attempt_at)
SELECT md5(number::text), alert_id, channel, recipient, number,
  record || jsonb_build_object('text', repeat('x', %s)), plan, state, reason, suppressed_by,
  next_attempt_at
FROM deliveries, generate_series(1, %s) AS number
"""


@dataclass
class Weighed(Outbox):
    """An outbox that notes how much is read at once."""

    pool: Pool
    sizes: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(self.pool)

    def entries(self, delivery_ids: Sequence[str]) -> list[OutboxEntry]:
        found = super().entries(delivery_ids)
        self.sizes.append(sum(len(each.value) for each in found))
        return found


@pytest.fixture
def weighed(pool: Pool, ledger_url: str) -> Iterator[Weighed]:
    """Large messages that wait for nothing any more, but are not released yet."""
    outbox = Weighed(pool)
    recorded(Intake(pool), sample(), quiet(LONG_AGO))
    with psycopg.connect(ledger_url) as connection:
        connection.execute(_MULTIPLY, (LARGE_BYTES, COUNT - 1))
    yield outbox
    assert max(outbox.sizes) < READ_LIMIT_BYTES + LARGE_BYTES
    assert sum(outbox.sizes) > (COUNT - 1) * LARGE_BYTES


def test_a_release_of_many_large_messages_reads_them_in_portions(
    pool: Pool, weighed: Weighed
) -> None:
    written = Topics()
    teller = Teller(Publisher(written, weighed), written, weighed, ManualClock())
    assert teller.tell(Suppressions(pool, COUNT).judge_due(release)) == COUNT
    assert len(written.on("deliveries.email")) == COUNT
    assert weighed.waiting() == 0


def test_the_relay_reads_many_large_messages_in_portions(pool: Pool, weighed: Weighed) -> None:
    Suppressions(pool, COUNT).judge_due(release)
    written = Topics()
    settings = LookoutSettings(lookout_relay_deliveries=COUNT)
    relay = Relay(weighed, Publisher(written, weighed), settings, Life(clock=ManualClock()))
    assert relay.sweep(older_than_seconds=0) == COUNT
    assert len({each.key for each in written.on("deliveries.email")}) == COUNT


def test_what_has_left_the_outbox_meanwhile_is_not_read(
    pool: Pool, intake: Intake, outbox: Outbox
) -> None:
    for number in range(2):
        recorded(intake, sample(number), quiet(LONG_AGO))
    Suppressions(pool).judge_due(release)
    first, second = outbox.unpublished(after="", older_than_seconds=0, limit=10)
    outbox.mark_published([first.delivery_id])
    (entries,) = outbox.read([first, second])
    assert [each.delivery_id for each in entries] == [second.delivery_id]
