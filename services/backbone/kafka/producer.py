"""A producer that answers when the brokers have a batch: idempotent, acks=all, bounded."""

import threading
from collections.abc import Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Annotated, Final, Self

from confluent_kafka import KafkaError, KafkaException, Message
from confluent_kafka import Producer as Client
from pydantic import Field, SecretStr

from services.backbone.errors import Ended, NoTopic, QueueFull, Refused, Transient, Trouble
from services.backbone.kafka.client import OPTIONS, common_config, is_fatal, opened, trouble
from services.backbone.kafka.known_brokers import KnownBrokers
from services.backbone.kafka.sayings import Sayings
from services.backbone.kafka.security import Security
from services.backbone.log import logger
from services.backbone.settings import KafkaSettings, Seconds

_HEARD_LIMIT: Final = 200
_GIVE_UP_SECONDS: Final = 5.0
_POLL_SECONDS: Final = 0.1
"""So long its thread waits for reports, and after an error before it asks again."""
_UNKNOWN_AFTER: Final = "topic.metadata.propagation.max.ms"
"""The client's option: so long a topic that brokers do not know may be one just created."""
_UNKNOWN_AFTER_MS_MAX: Final = 3_600_000
_NO_TOPIC: Final = frozenset({"UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_TOPIC"})

log = logger(__name__)


class ProducerSettings(KafkaSettings):
    """Settings of a program that writes to Kafka."""

    producer_queue_messages: Annotated[int, Field(ge=100, le=1_000_000)] = 50_000
    """Most records that wait to be written; with more, who brings them has to wait."""
    producer_queue_kib: Annotated[int, Field(ge=64, le=1_048_576)] = 32 * 1024
    """Most memory that they may take."""
    producer_timeout_seconds: Seconds = 20.0
    """After so long a record that the brokers have not taken is given up."""
    producer_linger_ms: Annotated[int, Field(ge=0, le=1000)] = 0
    """How long a record waits for others to travel with it."""

    def naming_unknown_topics(self) -> Self:
        """Return the same with NoTopic well before a record would be given up for its age."""
        after_ms = min(int(500 * self.producer_timeout_seconds), _UNKNOWN_AFTER_MS_MAX)
        options = {_UNKNOWN_AFTER: SecretStr(str(after_ms))} | self.kafka_options
        return self.model_copy(update={"kafka_options": options})


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One record to write."""

    topic: str
    key: str
    value: bytes
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class _Batch:
    """Counts a batch's acknowledgements; all callbacks come on the poll thread."""

    outcomes: list[Trouble | None]
    open: int
    lock: threading.Lock = field(default_factory=threading.Lock)
    future: Future[list[Trouble | None]] = field(default_factory=Future)

    def settle(self, index: int, outcome: Trouble | None) -> None:
        with self.lock:
            self.outcomes[index] = outcome
            self.open -= 1
            last = self.open == 0
        if last:
            with suppress(InvalidStateError):  # whoever waited for it has given it up
                self.future.set_result(self.outcomes)


class Producer:
    """Writes records; safe to call from any thread.

    Raises:
        Refused: at its making, by options that the client cannot be opened with.
    """

    def __init__(
        self, settings: ProducerSettings, program: str, security: Security | None = None
    ) -> None:
        config = common_config(settings, program) | {
            **(security.config() if security else {}),
            "error_cb": self._hear,
            "logger": Sayings(),
            "acks": "all",
            "enable.idempotence": True,
            "linger.ms": settings.producer_linger_ms,
            "compression.type": "none",
            "message.max.bytes": 8 * 1024 * 1024,
            "message.timeout.ms": int(settings.producer_timeout_seconds * 1000),
            "queue.buffering.max.messages": settings.producer_queue_messages,
            "queue.buffering.max.kbytes": settings.producer_queue_kib,
        }
        self._heard = ""
        self._config = config
        self._setting = security.setting if security else OPTIONS
        self._replacing = threading.Lock()
        self._client = self._open()
        self._stop = threading.Event()
        self._fatal: str | None = None
        self._thread = threading.Thread(target=self._serve, name="producer", daemon=True)
        self._thread.start()

    def send(self, records: Sequence[Outgoing]) -> "Future[list[Trouble | None]]":
        """Start writing a batch; the future tells for each record None (on all in-sync replicas)
        or what went wrong: Transient (try again; QueueFull, NoTopic and NotTaken: it was never
        written), or Refused (never fits).
        """
        batch = _Batch(outcomes=[None] * len(records), open=len(records))
        if not records:
            batch.future.set_result([])
        for index, record in enumerate(records):
            self._start(batch, index, record)
        return batch.future

    def write(self, records: Sequence[Outgoing]) -> None:
        """Write a batch and wait until the brokers have it.

        Raises:
            Refused: a record can never be written.
            Transient: at least one is not known to be written; writing all again is right.
        """
        outcomes = [outcome for outcome in self.send(records).result() if outcome is not None]
        for outcome in sorted(outcomes, key=lambda each: isinstance(each, Transient)):
            raise outcome

    def unusable(self) -> str | None:
        """Return why the producer must be replaced (restart the program), or None."""
        return self._fatal

    def ensure_usable(self) -> None:
        """Do nothing, unless the producer must be replaced.

        Raises:
            Ended: it writes nothing any more.
        """
        if self._fatal is not None:
            raise Ended(f"the producer must be replaced: {self._fatal}")

    def close(self, timeout_seconds: float = 5.0) -> None:
        """Wait for outstanding records, but not longer than this."""
        try:
            self._client.flush(timeout_seconds)
        except Exception as error:  # as in `_serve`: whichever polls first hears of it
            self._end(error)
        self._stop.set()
        self._thread.join(timeout=5)

    def _start(self, batch: _Batch, index: int, record: Outgoing) -> None:
        def on_delivery(error: KafkaError | None, message: Message) -> None:
            if error is None:
                self._heard = ""  # of connections before this record; they carry again
            batch.settle(index, None if error is None else self._sorted(error, message))

        try:
            with self._replacing:
                self._client.produce(
                    record.topic,
                    key=record.key,
                    value=record.value,
                    headers=list(record.headers),
                    on_delivery=on_delivery,
                )
        except BufferError:
            batch.settle(index, QueueFull("the queue to Kafka is full"))
        except KafkaException as error:
            batch.settle(index, self._sorted(error.args[0]))

    def _sorted(self, error: KafkaError, message: Message | None = None) -> Refused | Transient:
        if is_fatal(error) and self._fatal is None:
            self._end(KafkaException(error))
        found = trouble(error)
        # What was given a partition, by a topic that is gone since, may have been written there.
        if error.name() in _NO_TOPIC and (message is None or message.partition() is None):
            return NoTopic(str(found))
        if error.name() == "_MSG_TIMED_OUT" and self._heard:
            return type(found)(f"{found}; {self._heard}")
        return found

    def _hear(self, error: KafkaError) -> None:
        """Keep what the client says of its connections: a record itself only times out."""
        if error.name() != "_ALL_BROKERS_DOWN":  # it says no more than that
            self._heard = error.str()[:_HEARD_LIMIT]

    def _serve(self) -> None:
        """Poll on whatever happens, so that whoever waits for a record hears what became of it."""
        while not self._stop.is_set():
            try:
                self._turn()
            except Exception as error:  # the client's own end is raised by a poll, and so are bugs
                self._end(error)
                self._stop.wait(_POLL_SECONDS)

    def _turn(self) -> None:
        self._client.poll(_POLL_SECONDS)
        if self._brokers.are_forgotten():
            self._begin_anew()

    def _end(self, error: Exception) -> None:
        """Keep why; a record's report says only that there was a reason, a poll tells it."""
        if isinstance(error, KafkaException):
            self._fatal = error.args[0].str()
        else:
            log.error("bug", exc_info=error)
            self._fatal = f"a bug: {error!r}"
        log.error("producer_ended", reason=self._fatal, next="the program must be started anew")

    def _open(self) -> Client:
        self._brokers = KnownBrokers()
        return opened(Client, self._config | self._brokers.config(), self._setting)

    def _begin_anew(self) -> None:
        """Replace a client that knows no broker; what it holds is given back to the senders."""
        log.error("brokers_forgotten", next="a new client; what was not written is sent again")
        with self._replacing:
            forgetful, self._client = self._client, self._open()
        forgetful.purge()
        forgetful.flush(_GIVE_UP_SECONDS)
