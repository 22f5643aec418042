"""A ledger per test, and deliverers as real processes beside stand-ins of ours."""

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest

from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.consumer import Consumer
from services.backbone.kafka.producer import Outgoing, Producer, ProducerSettings
from services.contracts import topics
from services.contracts.records import Delivery
from services.deliverer.wiring import channel_names
from services.machine.ports import free_ports
from tests.broker import OwnBroker
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.programs import DelivererProcess
from tests.integration.deliverer.receivers import Mailbox, WebhookReceiver
from tests.integration.deliverer.waiting import until
from tests.postgres import OwnPostgres

Start = Callable[..., DelivererProcess]


@pytest.fixture
def ledger(ledger_url: str) -> Iterator[Ledger]:
    """An empty ledger with its schema, of the test's own."""
    with closing(Ledger(ledger_url)) as made:
        yield made


@dataclass
class Bus:
    """The broker as the lookout and readers use it."""

    settings: ProducerSettings
    producer: Producer

    def tell(self, deliveries: Sequence[Delivery]) -> None:
        """Publish deliveries as the lookout does."""
        self.producer.write(
            [
                Outgoing(topics.deliveries(each.channel), each.delivery_id, each.encode())
                for each in deliveries
            ]
        )

    def read(self, topic: str, enough: Callable[[list[Outgoing]], bool]) -> list[Outgoing]:
        """Read a topic from its start until there is enough."""
        group = uuid.uuid4().hex
        consumer = Consumer(self.settings, "test", group=group, topics=[topic])
        found: list[Outgoing] = []

        def came() -> bool:
            found.extend(
                Outgoing(each.topic, (each.key or b"").decode(), each.value)
                for each in consumer.batch(500, 0.2)
            )
            return enough(found)

        try:
            until(came, f"records of {topic}")
        finally:
            consumer.close()
        return found


@pytest.fixture(scope="session")
def bus(kafka_bootstrap: str) -> Iterator[Bus]:
    """The shared broker with the core's topics; two deliverers can share those of webhooks."""
    settings = ProducerSettings(kafka_bootstrap_servers=kafka_bootstrap)
    shared = {topics.deliveries("webhook"): 2}
    TopicAdmin(settings, "test").declare(topics.core_topics(channel_names(), shared))
    producer = Producer(settings, "test")
    yield Bus(settings, producer)
    producer.close()


@pytest.fixture(scope="session")
def foreign_broker(
    aldebaran_tools: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OwnBroker]:
    """A cluster that is not Aldebaran's; it is reached by a passage to it, on the port it tells."""
    own = OwnBroker(aldebaran_tools, tmp_path_factory.mktemp("foreign"), free_ports(1)[0])
    yield own
    own.running.stop()


@pytest.fixture
def start(bus: Bus, ledger: Ledger, tmp_path: Path) -> Iterator[Start]:
    """Start deliverers of a channel with more settings; all are killed at the end."""
    started: list[DelivererProcess] = []

    def start_one(
        channel: str, ready: bool = True, module: str = "services.deliverer", **settings: object
    ) -> DelivererProcess:
        environment = {
            "ALDEBARAN_CHANNEL": channel,
            "ALDEBARAN_POSTGRES_URL": ledger.url,
            "ALDEBARAN_KAFKA_BOOTSTRAP_SERVERS": bus.settings.kafka_bootstrap_servers,
            "ALDEBARAN_INSTANCE": f"test-{len(started)}",
            "ALDEBARAN_KAFKA_GROUP_INSTANCE_ID": _free_place(started),
            "ALDEBARAN_RETRY_FIRST_SECONDS": "0.05",
            "ALDEBARAN_RETRY_LIMIT_SECONDS": "0.2",
            "ALDEBARAN_BREAKER_FIRST_SECONDS": "0.05",
            "ALDEBARAN_BREAKER_LIMIT_SECONDS": "0.2",
            "ALDEBARAN_SWEEP_SECONDS": "0.1",
            "ALDEBARAN_IN_DOUBT_DEADLINE_SECONDS": "0.2",
        } | {f"ALDEBARAN_{name.upper()}": str(value) for name, value in settings.items()}
        log_file = tmp_path / f"deliverer-{len(started)}.log"
        one = DelivererProcess(environment, log_file, module=module)
        started.append(one)
        return one.start(ready)

    yield start_one
    for each in started:
        each.kill()


def _free_place(started: Sequence[DelivererProcess]) -> str:
    """Name a member of the group that does not run; one that was killed is a member for 6 s."""
    taken = {each.environment["ALDEBARAN_KAFKA_GROUP_INSTANCE_ID"] for each in started if each.runs}
    return next(name for n in count() if (name := f"test-{n}") not in taken)


@pytest.fixture(scope="session")
def prepared_postgres(
    tmp_path_factory: pytest.TempPathFactory, databases: Path
) -> Iterator[OwnPostgres]:
    own = OwnPostgres(databases / "own", tmp_path_factory.mktemp("own"))
    yield own
    own.stop()


@pytest.fixture
def own_postgres(prepared_postgres: OwnPostgres) -> OwnPostgres:
    """A Postgres that a test may stop; it runs when the test begins."""
    if not prepared_postgres.is_running:
        prepared_postgres.start()
    return prepared_postgres


@pytest.fixture
def receiver() -> Iterator[WebhookReceiver]:
    """A webhook receiver that takes everything, until told otherwise."""
    with WebhookReceiver().listening() as receiver:
        yield receiver


@dataclass
class Relay:
    """A mail relay and its port."""

    port: int
    mailbox: Mailbox = field(default_factory=Mailbox)


@pytest.fixture
def relay() -> Iterator[Relay]:
    """A mail relay that takes everything, until told otherwise."""
    relay = Relay(free_ports(1)[0])
    with relay.mailbox.listening(relay.port):
        yield relay
