"""The heartbeat stops while Postgres is gone; nothing is forgotten that the brokers still keep."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AclOperation  # type: ignore[attr-defined] # public, undeclared

from services.backbone.kafka.producer import Producer
from services.contracts import topics
from tests.broker import forbid
from tests.integration.accountant.conftest import Beats, World
from tests.integration.accountant.programs import Accountants
from tests.integration.deliverer.ledgers import Ledger, new_ledger
from tests.integration.deliverer.waiting import until
from tests.postgres import OwnPostgres
from tests.topic import configure
from tests.unit.deliverer.builders import delivery

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]


@pytest.fixture
def accountant(
    own_bootstrap: str,
    producer: Producer,
    own_postgres: OwnPostgres,
    tmp_path: Path,
    beats: Beats,
) -> Iterator[Accountants]:
    """An accountant on a Postgres that the test may stop; the producer has declared the topics."""
    assert producer.unusable() is None
    url = new_ledger(own_postgres).url
    accountant = Accountants(own_bootstrap, url, tmp_path, beats.port)
    accountant.start()
    yield accountant
    accountant.close()


def test_it_does_not_beat_while_postgres_is_gone_and_beats_again_afterwards(
    accountant: Accountants, own_postgres: OwnPostgres, beats: Beats
) -> None:
    until(lambda: beats.count > 1, "it beats")
    own_postgres.kill()
    until(lambda: accountant.failures() > 0, "it says that it cannot account")
    told, failed = beats.count, accountant.failures()
    until(lambda: accountant.failures() > failed, "it has tried again")
    assert beats.count == told
    own_postgres.start()
    until(lambda: beats.count > told, "it beats again")


def test_nothing_is_removed_while_the_brokers_keep_alerts_for_longer_or_do_not_tell(
    world: World,
) -> None:
    keep(world.bootstrap, -1)
    old = delivery(1)
    world.ledger.add(old)
    world.ledger.execute("UPDATE deliveries SET state = 'SENT'")
    world.ledger.execute("UPDATE alerts SET accepted_at = now() - interval '500 days'")
    world.accountants.start()
    until(lambda: short(world.ledger), "it says that the ledger would forget too soon")
    assert old.delivery_id in world.ledger.states()
    account = world.accountants.once()
    assert account.returncode == 1
    assert "short_retention alerts: the brokers keep it for inf h" in account.stdout
    keep(world.bootstrap, 3_600_000)
    until(lambda: not short(world.ledger), "the finding ends")
    until(lambda: old.delivery_id not in world.ledger.states(), "it is removed")
    keep(world.bootstrap, -1)
    until(lambda: short(world.ledger), "it says so again")
    forbid(world.bootstrap, topics.ALERTS, AclOperation.DESCRIBE_CONFIGS)
    until(lambda: not short(world.ledger), "it goes by what is declared")
    assert "allow DESCRIBE_CONFIGS of topic alerts to this program" in world.accountants.log()
    told = world.beats.count
    until(lambda: world.beats.count > told, "it goes on accounting")


def short(ledger: Ledger) -> bool:
    question = "SELECT * FROM findings WHERE kind = 'short_retention' AND ended_at IS NULL"
    return bool(ledger.rows(question))


def keep(bootstrap: str, retention_ms: int) -> None:
    """Tell the brokers for how long to keep topic alerts."""
    configure(bootstrap, topics.ALERTS, "retention.ms", str(retention_ms))
