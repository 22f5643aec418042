"""A client that knows no broker any more is replaced."""

import json
from typing import Any

import confluent_kafka
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.backbone.errors import Transient
from services.backbone.kafka import consumer, producer
from services.backbone.kafka.consumer import Consumer
from services.backbone.kafka.known_brokers import FORGOTTEN_TIMES, KnownBrokers
from services.backbone.kafka.producer import Outgoing, Producer, ProducerSettings
from services.backbone.settings import KafkaSettings

SOURCES = st.sampled_from(["configured", "learned", "logical", "internal"])
NOBODY = ""
"""A client that is told of no broker knows none from its beginning."""
POLLS = 60


def statistics(sources: list[str]) -> str:
    brokers = {f"broker-{n}": {"source": source} for n, source in enumerate(sources)}
    return json.dumps({"brokers": brokers})


@given(st.lists(st.lists(SOURCES, max_size=3), max_size=6))
def test_forgotten_is_what_knows_none_several_times_in_a_row(said: list[list[str]]) -> None:
    known = KnownBrokers()
    for sources in said:
        known.note(statistics(sources))
    last = said[-FORGOTTEN_TIMES:]
    none = [not {"configured", "learned"} & set(sources) for sources in last]
    assert known.are_forgotten() == (len(last) == FORGOTTEN_TIMES and all(none))


class Counted:
    """Stands in for a kind of client, and counts how many are made."""

    def __init__(self, kind: Any) -> None:
        self._kind = kind
        self.made = 0

    def __call__(self, config: dict[str, Any]) -> Any:
        self.made += 1
        return self._kind(config | {"statistics.interval.ms": 20})


def test_a_consumer_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    clients = Counted(confluent_kafka.Consumer)
    monkeypatch.setattr(consumer, "Client", clients)
    reader = Consumer(
        KafkaSettings(kafka_bootstrap_servers=NOBODY), "test", group="g", topics=["t"]
    )
    for _ in range(POLLS):
        assert reader.batch(1, 0.1) == []
        if clients.made > 1:
            break
    reader.close()
    assert clients.made > 1


def test_a_producer_is_replaced_and_what_it_held_is_given_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clients = Counted(confluent_kafka.Producer)
    monkeypatch.setattr(producer, "Client", clients)
    writer = Producer(ProducerSettings(kafka_bootstrap_servers=NOBODY), "test")
    (outcome,) = writer.send([Outgoing("t", "k", b"v")]).result(10)
    assert isinstance(outcome, Transient)
    assert writer.close() == 0
    assert clients.made > 1
