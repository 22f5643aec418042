"""The bus channel without a broker."""

import asyncio

import pytest
from confluent_kafka import KafkaError

from services.backbone.clock import SystemClock
from services.backbone.kafka.client import trouble
from services.deliverer.channel import Message, SendWindow
from services.deliverer.channels.bus import BusChannel, BusSettings, outcome_of, refusal
from services.deliverer.outcomes import Outcome, Permanent, Refused, Unknown
from services.machine.ports import free_ports
from tests.unit.deliverer.builders import delivery

QUEUE_MESSAGES = 100


@pytest.mark.promise("not_taken", "bus")
@pytest.mark.promise("in_doubt", "bus")
async def test_what_finds_the_queue_full_was_not_taken_and_what_waits_in_it_is_in_doubt() -> None:
    clock = SystemClock()
    channel = BusChannel(
        BusSettings(
            kafka_bootstrap_servers=f"127.0.0.1:{free_ports(1)[0]}",
            producer_queue_messages=QUEUE_MESSAGES,
            send_timeout_seconds=1.0,
        )
    )

    async def sent(number: int) -> Outcome:
        window = SendWindow(clock, clock.monotonic_seconds() + 60)
        return await channel.send(Message(delivery(number, "bus", "desk"), 1), window)

    outcomes = await asyncio.gather(*map(sent, range(QUEUE_MESSAGES + 5)))
    await channel.close()
    full = [each for each in outcomes if isinstance(each, Refused)]
    assert len(full) == 5
    assert all(each.destination_down for each in full)
    assert sum(isinstance(each, Unknown) for each in outcomes) == QUEUE_MESSAGES


@pytest.mark.parametrize("topic", ["accounts", "trades.rejected", "trades.heartbeat"])
def test_a_name_of_ours_is_somebody_elses_on_another_cluster(topic: str) -> None:
    assert refusal(topic, at_home=False) is None
    assert "Aldebaran's own" in (refusal(topic, at_home=True) or "")
    assert refusal("notifications", at_home=True) is None


@pytest.mark.parametrize(
    ("named", "at_home"), [(None, True), ("", True), ("ours:9092", True), ("theirs:9092", False)]
)
def test_it_is_at_home_unless_another_cluster_is_named(named: str | None, at_home: bool) -> None:
    settings = BusSettings(kafka_bootstrap_servers="ours:9092", bus_bootstrap_servers=named)
    assert settings.at_home == at_home


@pytest.mark.promise("permanent", "bus")
@pytest.mark.parametrize(
    "code",
    [
        KafkaError.INVALID_RECORD,
        KafkaError.MSG_SIZE_TOO_LARGE,
        KafkaError.POLICY_VIOLATION,
        KafkaError.RECORD_LIST_TOO_LARGE,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.TOPIC_EXCEPTION,
    ],
)
def test_what_the_brokers_refuse_for_what_it_is_is_never_taken(code: int) -> None:
    assert isinstance(outcome_of("desk", trouble(KafkaError(code))), Permanent)


@pytest.mark.promise("not_taken", "bus")
@pytest.mark.parametrize(
    "code",
    [
        KafkaError.INVALID_TIMESTAMP,
        KafkaError._INVALID_DIFFERENT_RECORD,  # noqa: SLF001 - public name
    ],
)
def test_what_the_brokers_refuse_for_what_passes_was_not_taken(code: int) -> None:
    outcome = outcome_of("desk", trouble(KafkaError(code)))
    assert isinstance(outcome, Refused)
    assert not outcome.destination_down, "other records to other topics fare better"


@pytest.mark.promise("in_doubt", "bus")
@pytest.mark.parametrize(
    "code",
    [KafkaError._MSG_TIMED_OUT, KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND],  # noqa: SLF001 - public name
)
def test_what_the_brokers_may_have_is_in_doubt(code: int) -> None:
    assert isinstance(outcome_of("desk", trouble(KafkaError(code))), Unknown)
