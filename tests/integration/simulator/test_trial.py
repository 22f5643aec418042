"""The trial on a broker that has history: what was there before is no part of it."""

import threading
import uuid

import pytest

from services.backbone.clock import SystemClock
from services.backbone.errors import Transient
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.producer import Outgoing, Producer, ProducerSettings
from services.contracts.states import State
from services.contracts.topics import ALERTS, DELIVERY_EVENTS, Topic
from services.machine.ports import free_ports
from services.simulator import trial
from services.simulator.trial import Trial, TrialSettings
from tests.unit.simulator.test_trial import alert, move

pytestmark = pytest.mark.kafka


def test_it_reads_what_comes_after_it_began_and_nothing_before(kafka_bootstrap: str) -> None:
    kafka = ProducerSettings(kafka_bootstrap_servers=kafka_bootstrap)
    settings = TrialSettings(kafka_bootstrap_servers=kafka_bootstrap)
    TopicAdmin(kafka, "test").declare([Topic(ALERTS), Topic(DELIVERY_EVENTS)])
    clock, producer = SystemClock(), Producer(kafka, "test")
    order, before, ours = (uuid.uuid4().hex for _ in range(3))

    def found_and_told(alert_id: str) -> list[Outgoing]:
        told = move(alert_id, State.SENT)
        found = Outgoing(ALERTS, alert_id, alert(order, alert_id))
        return [Outgoing(DELIVERY_EVENTS, alert_id, told), found]

    seen = Trial(order)
    # More than is read on the way to the beginning.
    producer.write(found_and_told(before) * 5 * trial.BATCH_LIMIT)
    with trial.listening(settings, clock, order, clock.monotonic_seconds() + 60) as consumer:
        producer.write(found_and_told(ours))
        trial.watch(consumer, settings, clock, seen)
    producer.close()
    assert [each.alert_id for each in seen.moves] == [ours]
    assert seen.alert
    assert seen.alert.alert_id == ours
    assert trial.verdict(seen)[1] == 0


def test_without_kafka_it_says_so() -> None:
    clock, port = SystemClock(), free_ports(1)[0]
    settings = TrialSettings(kafka_bootstrap_servers=f"127.0.0.1:{port}")
    with (
        pytest.raises(Transient, match="in time"),
        trial.listening(settings, clock, uuid.uuid4().hex, clock.monotonic_seconds() + 0.5),
    ):
        pytest.fail("it began without a broker")


def test_nothing_is_tried_on_where_kafka_is_lost_meanwhile() -> None:
    clock = SystemClock()
    settings = TrialSettings(simulator_gateway_url=f"http://127.0.0.1:{free_ports(1)[0]}")

    def lost() -> None:
        raise Transient("lost")

    with pytest.raises(Transient, match="lost"):
        trial.send(settings, clock, "trial-1", clock.monotonic_seconds() + 60, lost)
    senders = [each for each in threading.enumerate() if each.name.startswith("gateway-sender")]
    for each in senders:
        each.join(60)
    assert not [each for each in senders if each.is_alive()]


def test_it_reads_on_while_the_gateway_does_not_answer() -> None:
    """Whoever does not read for half a minute loses its place in the topics."""
    clock, reads = SystemClock(), list[int]()
    settings = TrialSettings(simulator_gateway_url=f"http://127.0.0.1:{free_ports(1)[0]}")

    def read() -> None:
        reads.append(len(reads))
        clock.wait(threading.Event(), trial.POLL_SECONDS)

    until = clock.monotonic_seconds() + 60

    class Ends(SystemClock):
        def monotonic_seconds(self) -> float:
            return until if len(reads) == 3 else clock.monotonic_seconds()

    assert not trial.send(settings, Ends(), "trial-1", until, read)
    assert len(reads) == 3
