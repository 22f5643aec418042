"""The whole program on a real broker and a real Postgres, killed, doubled, and without stores."""

import uuid

import psycopg
import pytest

from services.backbone.kafka.producer import Outgoing, Producer
from services.contracts import topics
from services.contracts.ids import alert_id, delivery_id
from services.contracts.records import Alert, Delivery
from tests.integration.lookout.processes import Lookouts, Reader, eventually, write_alerts
from tests.unit.lookout.samples import sample

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]

WATCH = "over-heat"


def findings(count: int) -> list[Alert]:
    """Return alerts that no other test has; the shipped routes send each to the bus."""
    name = uuid.uuid4().hex
    return [
        sample(watch=WATCH, alert_id=alert_id(WATCH, [name, str(each)]), key={"id": name})
        for each in range(count)
    ]


def wanted(alerts: list[Alert]) -> set[str]:
    return {delivery_id(alert.alert_id, "bus", "notifications") for alert in alerts}


def ledger_counts(ledger_url: str, alerts: list[Alert]) -> tuple[int, int, int]:
    """Return alerts, deliveries, and deliveries in the outbox."""
    ids = [alert.alert_id for alert in alerts]
    query = """
        SELECT (SELECT count(*) FROM alerts WHERE alert_id = ANY(%(ids)s)), count(*),
          count(*) FILTER (WHERE published_at IS NULL)
        FROM deliveries WHERE alert_id = ANY(%(ids)s)"""
    with psycopg.connect(ledger_url) as connection:
        row = connection.execute(query, {"ids": ids}).fetchone()
    assert row is not None
    return row[0], row[1], row[2]


def test_an_alert_becomes_a_delivery(
    lookouts: Lookouts, producer: Producer, reader: Reader, ledger_url: str
) -> None:
    lookouts.start()
    alerts = findings(3)
    producer.write([Outgoing(topics.ALERTS, "x", b"no alert")])
    write_alerts(producer, [*alerts, *alerts])
    reader.wait_for(wanted(alerts))
    eventually(lambda: ledger_counts(ledger_url, alerts) == (3, 3, 0), "not recorded and marked")
    records = [Delivery.decode(each.value) for each in reader.found]
    assert {each.alert.alert_id for each in records} >= {alert.alert_id for alert in alerts}


@pytest.mark.slow
def test_kill_9_under_load_loses_nothing_and_doubles_nothing(
    lookouts: Lookouts, producer: Producer, reader: Reader, ledger_url: str
) -> None:
    alerts = findings(3000)
    victim = lookouts.start()
    for part in (alerts[:1000], alerts[1000:2000], alerts[2000:]):
        write_alerts(producer, part)
        reader.wait_for(wanted(part[:20]))
        lookouts.kill(victim)
        victim = lookouts.start()
    reader.wait_for(wanted(alerts))
    eventually(
        lambda: ledger_counts(ledger_url, alerts) == (3000, 3000, 0), "not recorded and marked"
    )


def test_two_lookouts_share_the_work_and_one_may_die(
    lookouts: Lookouts, producer: Producer, reader: Reader, ledger_url: str
) -> None:
    alerts = findings(1500)
    first = lookouts.start()
    lookouts.start()
    write_alerts(producer, alerts[:1000])
    reader.wait_for(wanted(alerts[:20]))
    lookouts.kill(first)
    write_alerts(producer, alerts[500:])
    reader.wait_for(wanted(alerts))
    eventually(
        lambda: ledger_counts(ledger_url, alerts) == (1500, 1500, 0), "not recorded and marked"
    )
