"""The heartbeat stops while Postgres is gone; nothing is forgotten that the brokers still keep."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AclOperation  # type: ignore[attr-defined] # public, undeclared

from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.producer import Producer
from services.backbone.settings import KafkaSettings
from services.contracts import topics
from services.contracts.streams import load_streams, stream_topics
from tests.broker import forbid
from tests.integration.accountant.conftest import Beats, World
from tests.integration.accountant.programs import Accountants
from tests.integration.deliverer.ledgers import Ledger, new_ledger
from tests.integration.deliverer.waiting import until
from tests.postgres import OwnPostgres
from tests.topic import configure, until_listed
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
    fail_once_more(accountant)
    told = beats.count
    fail_once_more(accountant)
    assert beats.count == told
    own_postgres.start()
    until(lambda: beats.count > told, "it beats again")


def fail_once_more(accountant: Accountants) -> None:
    """Wait until it cannot account; an accounting that went well before has beaten by then."""
    failed = accountant.failures()
    until(lambda: accountant.failures() > failed, "it cannot account once more")


def test_nothing_is_removed_while_the_brokers_keep_more_for_longer_or_do_not_tell(
    world: World,
) -> None:
    (stream,) = load_streams().values()
    settings = KafkaSettings(kafka_bootstrap_servers=world.bootstrap)
    TopicAdmin(settings, "test").declare(stream_topics(stream))
    keep(world.bootstrap, -1)
    keep(world.bootstrap, -1, stream.stream)
    old = delivery(1)
    world.ledger.add(old)
    world.ledger.execute("UPDATE deliveries SET state = 'SENT'")
    world.ledger.execute("UPDATE alerts SET accepted_at = now() - interval '500 days'")
    world.accountants.start()
    both = {topics.ALERTS, stream.stream}
    until(lambda: short(world.ledger) == both, "it says that the ledger would forget too soon")
    assert old.delivery_id in world.ledger.states()
    account = world.accountants.once()
    assert account.returncode == 1
    assert "short_retention alerts: the brokers keep it for inf h" in account.stdout
    assert "short_retention trades: the brokers keep this stream without limit" in account.stdout
    keep(world.bootstrap, 3_600_000)
    until(lambda: short(world.ledger) == {stream.stream}, "the finding about alerts ends")
    assert old.delivery_id in world.ledger.states()
    keep(world.bootstrap, 3_600_000, stream.stream)
    until(lambda: not short(world.ledger), "that about the stream ends")
    until(lambda: old.delivery_id not in world.ledger.states(), "it is removed")
    keep(world.bootstrap, -1)
    until(lambda: short(world.ledger), "it says so again")
    forbid(world.bootstrap, topics.ALERTS, AclOperation.DESCRIBE_CONFIGS)
    until(lambda: not short(world.ledger), "it goes by what is declared")
    assert "allow DESCRIBE_CONFIGS of topic alerts to this program" in world.accountants.log()
    told = world.beats.count
    until(lambda: world.beats.count > told, "it goes on accounting")


def test_topics_with_their_publishers_times_are_told_until_brokers_stamp_them(
    world: World,
) -> None:
    (stream,) = load_streams().values()
    settings = KafkaSettings(kafka_bootstrap_servers=world.bootstrap)
    admin = TopicAdmin(settings, "test")
    admin.declare(stream_topics(stream))
    both = {stream.stream, topics.heartbeat(stream.stream)}
    until_listed(admin, *both)
    for topic in both:
        configure(world.bootstrap, topic, "message.timestamp.type", topics.CREATE_TIME)
    world.accountants.start()
    until(lambda: kept_amiss(world.ledger) == both, "both are told")
    for topic in both:
        configure(world.bootstrap, topic, "message.timestamp.type", topics.APPEND_TIME)
    until(lambda: not kept_amiss(world.ledger), "both end")


def kept_amiss(ledger: Ledger) -> set[str]:
    """Return the topics with their publishers' times."""
    question = "SELECT subject FROM findings WHERE kind = 'publishers_times' AND ended_at IS NULL"
    return {row["subject"] for row in ledger.rows(question)}


def short(ledger: Ledger) -> set[str]:
    """Return the topics that are kept for too long."""
    question = "SELECT subject FROM findings WHERE kind = 'short_retention' AND ended_at IS NULL"
    return {row["subject"] for row in ledger.rows(question)}


def keep(bootstrap: str, retention_ms: int, topic: str = topics.ALERTS) -> None:
    """Tell the brokers for how long to keep a topic."""
    configure(bootstrap, topic, "retention.ms", str(retention_ms))
