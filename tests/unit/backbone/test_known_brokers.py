"""A client that knows no broker any more is replaced."""

import json
from typing import Any

import confluent_kafka
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.backbone.errors import Transient
from services.backbone.kafka import member, producer
from services.backbone.kafka.consumer import Consumer
from services.backbone.kafka.known_brokers import FORGOTTEN_TIMES, KnownBrokers
from services.backbone.kafka.producer import Outgoing, Producer, ProducerSettings
from services.backbone.settings import KafkaSettings

BROKERS = st.tuples(
    st.sampled_from(["configured", "learned", "logical", "internal"]),
    st.sampled_from(["INIT", "TRY_CONNECT", "UP", "DOWN"]),
)
SAID = st.tuples(
    st.lists(BROKERS, max_size=3),
    st.integers(0, 1),
    st.sampled_from([None, "up", "query-coord", "wait-coord"]),
)
"""The brokers' sources and states, records that wait to be written, the group's state."""
Said = tuple[list[tuple[str, str]], int, str | None]
NOBODY = ""
"""A client that is told of no broker knows none from its beginning."""
POLLS = 60


def statistics(brokers: list[tuple[str, str]], waiting: int, group: str | None) -> str:
    listed = {
        f"{n}": {"source": source, "state": state} for n, (source, state) in enumerate(brokers)
    }
    cgrp = {} if group is None else {"cgrp": {"state": group}}
    return json.dumps({"brokers": listed, "msg_cnt": waiting} | cgrp)


def is_lost(brokers: list[tuple[str, str]], waiting: int, group: str | None) -> bool:
    states = {state for source, state in brokers if source in ("configured", "learned")}
    is_waited_for = waiting > 0 or group not in (None, "up")
    return not states or (states == {"INIT"} and is_waited_for)


@given(st.lists(SAID, max_size=6))
def test_forgotten_is_what_knows_none_to_turn_to_several_times_in_a_row(said: list[Said]) -> None:
    known = KnownBrokers()
    for each in said:
        known.note(statistics(*each))
    last = said[-FORGOTTEN_TIMES:]
    lost = [is_lost(*each) for each in last]
    assert known.are_forgotten() == (len(last) == FORGOTTEN_TIMES and all(lost))


def test_a_broker_that_is_never_connected_to_again_is_no_broker() -> None:
    """As a client said it, of which the only broker had stood still for 20 s."""
    known = KnownBrokers()
    for _ in range(FORGOTTEN_TIMES):
        said = [("learned", "INIT"), ("logical", "TRY_CONNECT")]
        known.note(statistics(said, 0, "query-coord"))
    assert known.are_forgotten()


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
    monkeypatch.setattr(member, "Client", clients)
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
    writer.close()
    assert clients.made > 1
