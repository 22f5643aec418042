"""Streams that publishers write in ways of their own: in transactions, with their own times."""

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession
from structlog.testing import capture_logs

from auditor.changes import candidate
from engine.brokers import with_publishers_times
from services.backbone.kafka.partitions import partitions_of
from services.contracts.topics import heartbeat
from services.machine.waiting import wait_until
from tests.integration.auditor.inside import Inside, settings_of
from tests.integration.auditor.running import Findings, Place, Sender
from tests.topic import configure

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


class InTransactions(Sender):
    """A sender each of whose orders is one transaction."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._client = Producer(
            {"bootstrap.servers": place.bootstrap, "transactional.id": place.name}
        )
        self._client.init_transactions(30)

    def over(self, order_id: str, *, is_kept: bool) -> None:
        self._client.begin_transaction()
        self.request(order_id, 1)
        self.purchase(f"{order_id}-p", order_id, 2)
        self.flush()
        end = self._client.commit_transaction if is_kept else self._client.abort_transaction
        end(30)


def test_what_is_aborted_is_not_judged_where_only_what_is_committed_is_read(
    spark: SparkSession, place: Place
) -> None:
    place.declare("over-purchase")
    sender, alerts = InTransactions(place), Findings(place)
    # Of one partition, so that who has read the second has passed the first.
    aborted, kept = [
        name for name in map(str, range(20)) if partitions_of(name.encode(), 2) == {0}
    ][:2]
    sender.over(aborted, is_kept=False)
    sender.over(kept, is_kept=True)
    committed = {"isolation.level": "read_committed"}
    with Inside(spark, settings_of(place, auditor_kafka_options=committed)) as inside:
        inside.look_until("what is kept is found", lambda: kept in alerts.found())
    assert aborted not in alerts.found()


def test_a_changed_rule_takes_over_where_transactions_end_quiet_partitions(
    spark: SparkSession, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.declare("over-purchase")
    sender, alerts = InTransactions(place), Findings(place)
    monkeypatch.setattr(candidate, "CATCH_UP_SECONDS", 2.0)
    orders = {f"order-{number}" for number in range(8)}
    for order_id in orders:
        sender.over(order_id, is_kept=True)
    with Inside(spark, settings_of(place, auditor_slots=10)) as inside:
        inside.look_until("orders are found", lambda: orders <= alerts.found())
        rule = place.folder / "watches" / "over-purchase.yaml"
        rule.write_text(rule.read_text().replace("limit: 24 hours", "limit: 25 hours"))
        before = inside.checkpoint("over-purchase").folder
        with inside.reload() as reload:

            def taken_over() -> bool:
                reload.look()
                return inside.checkpoint("over-purchase").folder != before

            inside.look_until("it takes over", taken_over)


def test_a_topic_with_its_publishers_times_is_told_from_others(
    spark: SparkSession, place: Place
) -> None:
    place.declare("over-purchase")
    options = settings_of(place).kafka_client_options()
    nowhere = f"{place.stream}-nowhere"
    topics = [place.stream, heartbeat(place.stream), nowhere]
    with capture_logs() as logs:
        assert with_publishers_times(spark, options, topics) == []
        assert with_publishers_times(spark, options, topics) == []
    configure(place.bootstrap, place.stream, "message.timestamp.type", "CreateTime")
    wait_until(
        lambda: with_publishers_times(spark, options, topics) == [place.stream], 30, "not told"
    )
    assert [each["topic"] for each in logs if each["event"] == "times_unknown"] == [nowhere]
