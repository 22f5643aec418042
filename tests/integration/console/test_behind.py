"""What is behind an alert, looked up on real topics."""

import uuid
from contextlib import closing
from typing import Any

import pytest
from confluent_kafka import Producer as Client

from services.backbone.clock import SystemClock
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.producer import Outgoing, Producer, ProducerSettings
from services.backbone.kafka.window import Bounds
from services.console.behind import BEFORE_MS, Topics
from services.console.desk import BEHIND_AT_ONCE
from services.console.rendering import render
from services.contracts import topics
from services.contracts.records import Alert, Severity
from services.contracts.topics import Topic
from tests.integration.console.conftest import Console
from tests.integration.console.ledger_rows import add_alert

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]


def found(alert_id: str, auditor: str, detected_at_ms: int) -> Outgoing:
    alert = Alert(
        alert_id=alert_id, watch="w", severity=Severity.INFO, summary="s", key={"k": "v"},
        event_ids=["e-1", "e-2"], appended_at_ms=detected_at_ms, detected_at_ms=detected_at_ms,
        auditor=auditor,
    )  # fmt: skip
    return Outgoing(topics.ALERTS, alert_id, alert.encode())


def test_auditors_and_events_are_found_while_topics_keep_them(kafka_bootstrap: str) -> None:
    settings = ProducerSettings(kafka_bootstrap_servers=kafka_bootstrap)
    stream, clock = f"events-{uuid.uuid4().hex}", SystemClock()
    own = (Topic(stream, partitions=2, append_time=True), *topics.core_topics(["bus"]))
    TopicAdmin(settings, "test").declare(own)
    now, mine, other = clock.now_ms(), uuid.uuid4().hex, uuid.uuid4().hex
    producer = Producer(settings, "test")
    events = [
        Outgoing(stream, "k", b'{"event_id": "e-1", "amount": 3}'),
        Outgoing(stream, "l", b'{"event_id": "e-10", "amount": 4}'),
        Outgoing(stream, "m", b'{"event_id": "e-2", "text": "e-1"}'),
        Outgoing(stream, "n", b"e-1 is no JSON"),
    ]
    findings = [found(mine, "b", now + 4), found(mine, "a", now), found(mine, "a", now + 9)]
    producer.write([*events, *findings, found(other, "b", now)])
    producer.close()
    record: dict[str, Any] = {
        "alert_id": mine, "detected_at_ms": now, "appended_at_ms": clock.now_ms(),
        "event_ids": ["e-1", "e-2"],
    }  # fmt: skip
    looked_up = Topics(settings, clock, Bounds(seconds=60.0))
    behind = looked_up.behind(record, [stream, "no-such-stream"])
    assert [(each.auditor, each.later_ms) for each in behind.findings] == [("a", 0), ("b", 4)]
    assert {each.text for each in behind.events} == {
        '{"event_id": "e-1", "amount": 3}', '{"event_id": "e-2", "text": "e-1"}',
    }  # fmt: skip
    assert behind.events_looked.whole
    assert behind.findings_looked.whole
    assert behind.still_open
    old = record | {"detected_at_ms": now - 10**9, "appended_at_ms": now - 10**9}
    gone = looked_up.behind(old, [stream])
    assert (gone.findings, gone.events, gone.still_open) == ((), (), False)
    assert (gone.events_unread, gone.events_looked.whole) == ("", True)
    undeclared = looked_up.behind(record, ())
    assert undeclared.findings == behind.findings
    assert (undeclared.events, undeclared.events_unread) == ((), "no_watch")
    unnamed = looked_up.behind(record | {"event_ids": []}, [stream])
    assert (unnamed.events, unnamed.events_unread) == ((), "no_ids")
    assert not undeclared.events_looked.whole
    assert not unnamed.events_looked.whole


def test_the_newest_events_are_looked_at_first_and_what_was_not_is_told(
    kafka_bootstrap: str,
) -> None:
    settings = ProducerSettings(kafka_bootstrap_servers=kafka_bootstrap)
    stream, clock = f"events-{uuid.uuid4().hex}", SystemClock()
    TopicAdmin(settings, "test").declare((Topic(stream, partitions=1, append_time=True),))
    producer = Producer(settings, "test")
    producer.write([Outgoing(stream, "k", b'{"event_id": "e-%d"}' % each) for each in range(50)])
    producer.close()
    now = clock.now_ms()
    record: dict[str, Any] = {"alert_id": "x", "detected_at_ms": now, "appended_at_ms": now}
    looked_up = Topics(settings, clock, Bounds(records=10, seconds=60.0))
    crossing = looked_up.behind(record | {"event_ids": ["e-49"]}, [stream])
    assert [each.text for each in crossing.events] == ['{"event_id": "e-49"}']
    assert crossing.events_looked.whole
    early = looked_up.behind(record | {"event_ids": ["e-0", "e-49"]}, [stream])
    assert [each.text for each in early.events] == ['{"event_id": "e-49"}']
    assert (early.events_looked.records, early.events_looked.whole) == (10, False)
    page = render("behind.html", found=early, trouble="")
    assert "Only 10 records of the time before it were looked through" in page


def test_an_event_that_names_another_does_not_stand_for_it(kafka_bootstrap: str) -> None:
    """The purchase has both ids, and the request is older than what is read first."""
    settings = ProducerSettings(kafka_bootstrap_servers=kafka_bootstrap)
    stream, clock = f"events-{uuid.uuid4().hex}", SystemClock()
    TopicAdmin(settings, "test").declare((Topic(stream, partitions=1),))
    now = clock.now_ms()
    request, purchase = b'{"event_id": "e-1"}', b'{"event_id": "e-2", "of": "e-1"}'
    with closing(Client({"bootstrap.servers": kafka_bootstrap})) as client:
        client.produce(stream, request, timestamp=now - 2 * BEFORE_MS[0])
        for _ in range(2):
            client.produce(stream, purchase, timestamp=now - 1)
        assert client.flush(60) == 0
    record: dict[str, Any] = {"alert_id": "x", "detected_at_ms": now, "appended_at_ms": now}
    looked_up = Topics(settings, clock, Bounds(seconds=60.0))
    behind = looked_up.behind(record | {"event_ids": ["e-1", "e-2"]}, [stream])
    assert [each.text.encode() for each in behind.events] == [request, purchase, purchase]


def test_brokers_that_are_away_are_told(console: Console, ledger_url: str) -> None:
    moments = {"detected_at_ms": 1, "appended_at_ms": 1}
    alert = add_alert(ledger_url, "one", record=moments | {"alert_id": "x"})
    with console.client() as client:
        assert "cannot be read now" in client.get(f"/alerts/{alert}/behind").text
        told = client.get(f"/v1/alerts/{alert}/behind")
        assert (told.status_code, told.json()["title"]) == (503, "topics_away")
        assert f'hx-get="/alerts/{alert}/behind"' in client.get(f"/alerts/{alert}").text


def test_who_comes_while_two_look_up_is_told_to_ask_again(
    console: Console, ledger_url: str
) -> None:
    moments = {"detected_at_ms": 1, "appended_at_ms": 1}
    alert = add_alert(ledger_url, "one", record=moments | {"alert_id": "x"})
    looking = console.app.state.desk.looking
    with console.client() as client:
        with looking, looking:
            told = client.get(f"/v1/alerts/{alert}/behind")
            assert (told.status_code, told.json()["title"]) == (503, "topics_busy")
            assert "Retry-After" in told.headers
            assert "load the page again" in client.get(f"/alerts/{alert}/behind").text
        for _ in range(BEHIND_AT_ONCE + 1):
            assert client.get(f"/v1/alerts/{alert}/behind").json()["title"] == "topics_away"
