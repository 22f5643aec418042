"""Every published example is taken or refused as its folder says, by the code that reads it."""

import json

import pytest

from services.contracts import topics
from services.contracts.events import Event, EventReader, Invalid
from services.contracts.examples import Example, examples
from services.contracts.ids import accounted_id, alert_id, delivery_id
from services.contracts.records import (
    Accounted,
    Alert,
    Delivery,
    DeliveryEvent,
    Malformed,
    Record,
    Rejected,
)
from services.contracts.streams import load_streams

STREAMS = load_streams()
RECORDS: dict[str, type[Record]] = {
    topics.ALERTS: Alert,
    topics.deliveries("email"): Delivery,
    topics.DELIVERY_EVENTS: DeliveryEvent,
    topics.ACCOUNTS: Accounted,
    **{topics.rejected(stream): Rejected for stream in STREAMS},
}


def named(*kinds: str, streams: bool) -> list[Example]:
    return [
        each for kind in kinds for each in examples(kind=kind) if (each.topic in STREAMS) == streams
    ]


def test_every_example_belongs_to_a_topic_with_a_reader() -> None:
    assert {each.topic for each in examples()} == set(STREAMS) | set(RECORDS)


@pytest.mark.parametrize("example", named("valid", streams=True), ids=str)
def test_valid_events_are_taken_unchanged(example: Example) -> None:
    event = EventReader(STREAMS[example.topic]).read(example.content)
    assert isinstance(event, Event), event
    assert json.loads(event.value) == json.loads(example.content)


@pytest.mark.parametrize(
    "example", named("invalid", "invalid_at_the_gateway", streams=True), ids=str
)
def test_invalid_events_are_refused_with_a_reason(example: Example) -> None:
    answer = EventReader(STREAMS[example.topic]).read(example.content)
    assert isinstance(answer, Invalid), answer
    assert answer.reason in {"not_json", "not_an_object", "invalid_field", "field_twice"}
    assert answer.detail


@pytest.mark.parametrize("example", named("spellings", streams=True), ids=str)
def test_publishers_spellings_become_one(example: Example) -> None:
    pair = json.loads(example.content)
    event = EventReader(STREAMS[example.topic]).take(pair["published"])
    assert isinstance(event, Event), event
    assert json.loads(event.value) == pair["event"]


@pytest.mark.parametrize("example", named("valid", streams=False), ids=str)
def test_valid_records_survive_a_round_trip(example: Example) -> None:
    record = RECORDS[example.topic].decode(example.content)
    assert RECORDS[example.topic].decode(record.encode()) == record


@pytest.mark.parametrize("example", named("invalid", streams=False), ids=str)
def test_invalid_records_are_malformed(example: Example) -> None:
    with pytest.raises(Malformed):
        RECORDS[example.topic].decode(example.content)


def test_examples_carry_the_ids_that_the_rule_gives() -> None:
    delivery = Delivery.decode(next(examples("deliveries.email", "valid")).content)
    alert = delivery.alert
    assert alert.alert_id == alert_id(alert.watch, alert.key.values())
    assert delivery.delivery_id == delivery_id(
        alert.alert_id, delivery.channel, delivery.recipient, delivery.repetition
    )
    row = Accounted.decode(next(examples("accounts", "valid")).content)
    assert row.accounted_id == accounted_id(row.account, row.key.values())
