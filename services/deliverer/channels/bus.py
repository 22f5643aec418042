"""Bus: writes to a Kafka topic, named by the recipient; key and header are the delivery id.

The producer is idempotent, so its own retries never double. After an unknown outcome the same key
is written again: readers that drop repeats by key see each delivery once.
"""

import asyncio
from typing import Final, Self

from pydantic import model_validator

from services.backbone import errors
from services.backbone.clock import Clock
from services.backbone.kafka.producer import Outgoing, Producer, ProducerSettings
from services.backbone.kafka.security import Mechanism, Protocol, Security
from services.backbone.settings import OneLine, Seconds, read_settings
from services.contracts.recipients import complaint, is_ours
from services.deliverer.channel import Message, Promise, SendWindow, Traits
from services.deliverer.outcomes import Accepted, Outcome, Permanent, Refused, Unknown

PROMISE: Final = Promise(
    recipient="a Kafka topic; on our own cluster, of ours `notifications` alone",
    our_id="record key, header `delivery-id`",
    taken_when="all in-sync replicas have it",
    not_taken="the producer's queue is full; the topic does not exist; the brokers refuse it for "
    "its time, or for another record of its batch",
    permanent="too large, not allowed, one of our own topics, no topic's name; a record that the "
    "brokers' own checks refuse",
    in_doubt="broker away during the write",
    evidence="none is needed: the same key is written again",
    without_faults="once",
    after_doubt="at least once; the reader drops repeats by key",
    not_promised="readers that ignore the key",
)


class BusSettings(ProducerSettings):
    """Where the bus channel writes."""

    bus_bootstrap_servers: str | None = None
    """Another cluster; without it, the one that Aldebaran runs on."""
    bus_security_protocol: Protocol = "plaintext"
    """`ssl` and `sasl_ssl` check the cluster; `sasl_…` log in there."""
    bus_sasl_mechanism: Mechanism = "SCRAM-SHA-512"
    """How to log in at the other cluster."""
    bus_sasl_username: str | None = None
    """The user there."""
    bus_sasl_password: OneLine | None = None
    """The user's password."""
    bus_ca_file: str | None = None
    """Certificates (PEM) that the cluster's is checked by, instead of the system's."""
    bus_certificate_file: str | None = None
    """Our own certificate (PEM), where the cluster asks for one."""
    bus_key_file: str | None = None
    """The key of our own certificate (PEM)."""
    send_timeout_seconds: Seconds = 10.0
    """From claim to answer, as the deliverer's; a record is given up after 0.8 of it."""

    @model_validator(mode="after")
    def _security_is_whole(self) -> Self:
        if missing := self.security().complaint():
            raise ValueError(f"bus: {missing}")
        return self

    @property
    def at_home(self) -> bool:
        """Whether it writes to the cluster that Aldebaran runs on."""
        named = self.bus_bootstrap_servers or self.kafka_bootstrap_servers
        return named == self.kafka_bootstrap_servers

    def entrance(self) -> Security | None:
        """Return how the cluster is entered; None where it is ours, and entered as always."""
        named = self.bus_bootstrap_servers or self.bus_security_protocol != "plaintext"
        return self.security() if named else None

    def security(self) -> Security:
        """Return how another cluster is entered."""
        return Security(
            protocol=self.bus_security_protocol,
            mechanism=self.bus_sasl_mechanism,
            username=self.bus_sasl_username,
            password=self.bus_sasl_password,
            ca_file=self.bus_ca_file,
            certificate_file=self.bus_certificate_file,
            key_file=self.bus_key_file,
            setting="ALDEBARAN_BUS_SECURITY_PROTOCOL and what goes with it",
        )

    def target(self) -> ProducerSettings:
        """Return the producer's settings: it gives a record up before the send window ends, and a
        topic that brokers do not know before that.
        """
        named = self.bus_bootstrap_servers
        update = {
            "kafka_bootstrap_servers": named or self.kafka_bootstrap_servers,
            "kafka_options": {} if named else self.kafka_options,
            "producer_timeout_seconds": 0.8 * self.send_timeout_seconds,
        }
        return self.model_copy(update=update).naming_unknown_topics()


def refusal(topic: str, *, at_home: bool) -> str | None:
    """Say why nothing is written to a topic, by whether the cluster is Aldebaran's own."""
    if wrong := complaint("bus", topic):
        return wrong
    if at_home and is_ours(topic):
        return f"topic {topic} is Aldebaran's own: writing there could loop"
    return None


class BusChannel:
    """Writes each delivery as one record."""

    def __init__(self, settings: BusSettings) -> None:
        self._producer = Producer(settings.target(), "deliverer-bus", settings.entrance())
        self._at_home = settings.at_home
        self.traits = Traits(
            name="bus",
            promise=PROMISE,
            dedupes_by_key=True,
            send_timeout_seconds=settings.send_timeout_seconds,
        )

    async def send(self, message: Message, window: SendWindow) -> Outcome:
        """Write one record and wait for all in-sync replicas."""
        topic = message.delivery.recipient
        if wrong := refusal(topic, at_home=self._at_home):
            return Permanent(wrong)
        window.open()
        written = self._producer.send([record(topic, message)])
        (trouble,) = await asyncio.wrap_future(written)
        return outcome_of(topic, trouble)

    def unusable(self) -> str | None:
        """Return why the producer must be replaced, or None."""
        return self._producer.unusable()

    async def close(self) -> None:
        """Give up what is not written yet."""
        await asyncio.to_thread(self._producer.close, 1.0)


def record(topic: str, message: Message) -> Outgoing:
    """Return the record for a message: the delivery as JSON, ids and marks as headers."""
    delivery = message.worded
    headers = (
        ("delivery-id", delivery.delivery_id),
        ("alert-id", delivery.alert.alert_id),
        ("watch", delivery.alert.watch),
        ("severity", delivery.alert.severity.value),
        ("possible-repeat", "true" if message.marked_repeat else "false"),
    )
    return Outgoing(topic, delivery.delivery_id, delivery.encode(), headers)


def outcome_of(topic: str, trouble: errors.Trouble | None) -> Outcome:
    """Return what a write came to, by what went wrong; None: nothing."""
    match trouble:
        case None:
            return Accepted()
        case errors.QueueFull():
            return Refused(str(trouble), destination_down=True)
        case errors.NoTopic():
            return Refused(f"topic {topic} does not exist: create it, or correct the recipient")
        case errors.NotTaken():
            return Refused(f"topic {topic}: {trouble}")
        case errors.Refused():
            return Permanent(f"topic {topic}: {trouble}")
        case _:
            return Unknown(f"topic {topic}: {trouble}")


def open_channel(_: Clock) -> BusChannel:
    """Read the settings and make the channel."""
    return BusChannel(read_settings(BusSettings))
