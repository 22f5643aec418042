"""The bus channel to a cluster that is not ours: TLS, a log-in, and acknowledgements lost."""

import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import confluent_kafka as kafka
import pytest
from confluent_kafka.admin import AclOperation  # type: ignore[attr-defined] # public all the same
from pydantic import SecretStr

from services.backbone.clock import SystemClock
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.consumer import Consumer, Incoming
from services.backbone.kafka.producer import Outgoing, Producer, ProducerSettings
from services.contracts.states import State
from services.contracts.topics import Topic
from services.deliverer.channel import Message, SendWindow
from services.deliverer.channels.bus import BusChannel, BusSettings
from services.deliverer.outcomes import Accepted, Outcome, Permanent
from services.machine.installation import setup
from services.machine.ports import free_ports
from services.machine.servers import broker
from services.machine.supervision import child
from tests.broker import GUARDED, OwnBroker, forbid
from tests.integration.deliverer.conftest import Bus, Start
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.waiting import until
from tests.matrix.buses import way_to
from tests.topic import WholeTopic
from tests.unit.deliverer.builders import delivery

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]

CERTIFICATE = Path(__file__).with_name("relay.pem")
PASSWORD = "very-secret-1234"
_SECURE = """
listeners={listeners},SECURE://127.0.0.1:{port}
advertised.listeners={advertised},SECURE://127.0.0.1:{port}
listener.security.protocol.map=CLIENTS:PLAINTEXT,CONTROLLERS:PLAINTEXT,SECURE:SASL_SSL
listener.name.secure.ssl.keystore.type=PEM
listener.name.secure.ssl.keystore.location={certificate}
listener.name.secure.sasl.enabled.mechanisms=PLAIN
listener.name.secure.plain.sasl.jaas.config=\
org.apache.kafka.common.security.plain.PlainLoginModule required user_desk="{password}";
super.users=User:ANONYMOUS
"""
"""Its owner enters without a log-in, and may do everything."""


@pytest.fixture(scope="module")
def foreign(
    aldebaran_tools: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Bus, int]]:
    """A second cluster with a topic, as its owner sees it; and the port where others log in."""
    folder = tmp_path_factory.mktemp("foreign")
    port, controller_port, secure_port = free_ports(3)
    node = broker.BrokerNode(folder / "kafka", port, controller_port, heap_mebibytes=192)
    java = setup.required_java(os.environ)
    jars = setup.jars_folder(aldebaran_tools, "broker")
    broker.prepare(node, java, jars)
    properties = node.folder / "server.properties"
    found = dict(line.split("=", 1) for line in properties.read_text().splitlines())
    secure = _SECURE.format(
        listeners=found["listeners"],
        advertised=found["advertised.listeners"],
        port=secure_port,
        certificate=CERTIFICATE,
        password=PASSWORD,
    )
    properties.write_text(properties.read_text() + secure + GUARDED)
    running = child.start_and_wait(
        broker.program(node, java, jars), folder / "kafka.log", os.environ
    )
    settings = ProducerSettings(kafka_bootstrap_servers=node.bootstrap)
    TopicAdmin(settings, "test").declare([Topic("desk")])
    producer = Producer(settings, "test")
    yield Bus(settings, producer), secure_port
    producer.close()
    running.stop()


def to(port: int, **more: object) -> dict[str, object]:
    return {
        "bus_bootstrap_servers": f"127.0.0.1:{port}",
        "bus_security_protocol": "sasl_ssl",
        "bus_sasl_mechanism": "PLAIN",
        "bus_sasl_username": "desk",
        "bus_sasl_password": PASSWORD,
        "bus_ca_file": CERTIFICATE,
        **more,
    }


def test_each_delivery_is_one_record_there(
    start: Start, ledger: Ledger, foreign: tuple[Bus, int]
) -> None:
    cluster, port = foreign
    sent = [delivery(number, "bus", "desk") for number in range(10)]
    ledger.add(*sent)
    start("bus", **to(port))
    until(lambda: set(ledger.states().values()) == {State.SENT}, "sent")
    records = cluster.read("desk", lambda found: len(found) >= len(sent))
    assert Counter(each.key for each in records) == Counter(each.delivery_id for each in sent)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"bus_sasl_password": "not-the-password"}, "uthentication failed"),
        ({"bus_ca_file": ""}, "certificate"),
    ],
)
def test_what_is_not_trusted_is_told_without_secrets(
    start: Start,
    ledger: Ledger,
    foreign: tuple[Bus, int],
    wrong: dict[str, object],
    told: str,
) -> None:
    _, port = foreign
    one = delivery(1, "bus", "desk")
    ledger.add(one)
    settings = to(port) | wrong
    if not settings["bus_ca_file"]:
        del settings["bus_ca_file"]
    deliverer = start("bus", attempts_limit=1000, send_timeout_seconds=3, **settings)
    until(lambda: any(told in (each["reason"] or "") for each in ledger.attempts(one)), told)
    logged = deliverer.log_file.read_text()
    assert PASSWORD not in logged
    assert "not-the-password" not in logged


def test_our_own_programs_enter_such_a_cluster_too(foreign: tuple[Bus, int]) -> None:
    _, port = foreign
    entering = {
        "security.protocol": "sasl_ssl",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "desk",
        "sasl.password": PASSWORD,
        "ssl.ca.location": str(CERTIFICATE),
    }
    options = {name: SecretStr(value) for name, value in entering.items()}
    settings = ProducerSettings(kafka_bootstrap_servers=f"127.0.0.1:{port}", kafka_options=options)
    assert PASSWORD not in repr(settings)
    TopicAdmin(settings, "test").declare([Topic("entered")])
    producer = Producer(settings, "test")
    producer.write([Outgoing("entered", "key", b"value")])
    producer.close()
    consumer = Consumer(settings, "test", group="test", topics=["entered"])
    read: list[bytes] = []

    def comes() -> bool:
        read.extend(each.value for each in consumer.batch(10, 0.2))
        return read == [b"value"]

    until(comes, "the record")
    consumer.close()


def written(cluster: Bus, *topics: str) -> dict[str, int]:
    """Return how many records each topic has, of one partition each."""
    servers = cluster.settings.kafka_bootstrap_servers
    asking = kafka.Consumer({"bootstrap.servers": servers, "group.id": "counting"})
    places = [kafka.TopicPartition(each, 0) for each in topics]
    ends = {each.topic: asking.get_watermark_offsets(each, timeout=30)[1] for each in places}
    asking.close()
    return ends


@pytest.mark.promise("permanent", "bus")
async def test_what_is_not_allowed_or_too_large_there_is_refused_for_good_and_the_next_one_goes(
    foreign: tuple[Bus, int],
) -> None:
    cluster, port = foreign
    closed, narrow = Topic("closed"), Topic("narrow", message_limit_bytes=300)
    TopicAdmin(cluster.settings, "test").declare([closed, narrow, Topic("open")])
    forbid(cluster.settings.kafka_bootstrap_servers, closed.name, AclOperation.WRITE, "User:desk")
    channel = BusChannel(BusSettings.model_validate(to(port, bus_ca_file=str(CERTIFICATE))))
    clock = SystemClock()

    async def sent(topic: str) -> Outcome:
        message = Message(delivery(1, "bus", topic), attempt=1)
        return await channel.send(message, SendWindow(clock, clock.monotonic_seconds() + 60))

    outcomes = [await sent(topic) for topic in ("closed", "narrow", "open")]
    await channel.close()
    not_allowed, too_large, taken = outcomes
    assert isinstance(not_allowed, Permanent)
    assert "Topic authorization failed" in not_allowed.reason
    assert isinstance(too_large, Permanent)
    assert "Message size too large" in too_large.reason
    assert taken == Accepted()
    assert written(cluster, "closed", "narrow", "open") == {"closed": 0, "narrow": 0, "open": 1}


@pytest.mark.promise("after_doubt", "bus")
def test_killed_before_the_acknowledgement_another_writes_the_same_key(
    start: Start, ledger: Ledger, foreign_broker: OwnBroker
) -> None:
    with way_to(foreign_broker).listening() as passage:
        settings = ProducerSettings(kafka_bootstrap_servers=foreign_broker.node.bootstrap)
        TopicAdmin(settings, "test").declare([Topic("killed")])
        one = delivery(1, "bus", "killed")
        ledger.add(one)
        passage.armed = one.delivery_id.encode()
        there = {"bus_bootstrap_servers": foreign_broker.node.bootstrap}
        first = start("bus", **there)
        with closing(WholeTopic(settings, "killed")) as topic:
            records: list[Incoming] = []

            def written(count: int) -> bool:
                records.extend(topic.read())
                return len(records) == count

            until(lambda: written(1), "written, and nobody knows")
            first.end(signal.SIGKILL)
            ledger.end_leases()
            passage.go_on()
            start("bus", **there)
            until(lambda: set(ledger.states().values()) == {State.SENT}, "sent")
            assert written(2)
    assert {each.key for each in records} == {one.delivery_id.encode()}
    assert [each["outcome"] for each in ledger.attempts(one)] == [State.IN_DOUBT, State.SENT]
