"""A consumer that gives small batches at once and commits only what is settled."""

import threading
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from logging import WARNING
from typing import Final

from confluent_kafka import Consumer as Client
from confluent_kafka import KafkaError, KafkaException, TopicPartition
from confluent_kafka import Message as ClientMessage

from services.backbone.clock import SystemClock
from services.backbone.errors import Ended, Refused, Transient
from services.backbone.kafka.client import is_fatal, member_config, opened, trouble
from services.backbone.kafka.held import held, unread
from services.backbone.kafka.known_brokers import KnownBrokers
from services.backbone.kafka.sayings import Sayings
from services.backbone.kafka.settled import Ends, Place, Settled
from services.backbone.log import logger
from services.backbone.settings import KafkaSettings

log = logger(__name__)

BATCH_LIMIT_BYTES: Final = 4 * 1024 * 1024
"""Once its records have so many, a batch is full: read, they take ten times that in memory."""
_LEAVING_SECONDS: Final = 2.0
"""How long the group may take to let a member go that ends; then its session has to run out."""
_PASSING = frozenset(
    {
        KafkaError._ALL_BROKERS_DOWN,  # noqa: SLF001 - the client's public name for it
        KafkaError._TRANSPORT,  # noqa: SLF001 - likewise
        KafkaError._RESOLVE,  # noqa: SLF001 - likewise
        KafkaError._TIMED_OUT,  # noqa: SLF001 - likewise
        KafkaError._MAX_POLL_EXCEEDED,  # noqa: SLF001 - likewise; the client joins again by itself
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.NOT_COORDINATOR,
        KafkaError.REQUEST_TIMED_OUT,
    }
)


@dataclass(frozen=True, slots=True)
class Incoming:
    """One record as it was read."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes
    timestamp_ms: int


class Consumer:
    """Reads topics as one member of a group; use from one thread only.

    Raises:
        Refused: at its making, by options that the client cannot be opened with.
    """

    def __init__(
        self,
        settings: KafkaSettings,
        program: str,
        *,
        group: str,
        topics: Sequence[str],
        from_beginning: bool = True,
    ) -> None:
        config = member_config(settings, program, group, from_beginning=from_beginning)
        self._times_assigned = 0
        self._given = 0
        self._config, self._topics = config, list(topics)
        self._from_beginning = from_beginning
        # All that comes goes through here: what is given out has no gap behind it, so that a
        # commit never covers a record that only we hold.
        self._come: deque[Incoming] = deque()
        self._clock, self._sayings = SystemClock(), Sayings()
        self._asks_from = self._clock.monotonic_seconds()
        self._client = self._open()

    def batch(self, limit: int, timeout_seconds: float) -> list[Incoming]:
        """Return what is there, at most `limit` and some MiB; wait only for the first.

        Of each partition it is what comes after all that was given out since it was assigned.

        Raises:
            Transient, Refused: the broker's answer, sorted; a broker away is only logged.
            Ended: the client cannot go on, for example since another took its name.
        """
        self._commit_due()
        if not self._come:
            self._look(timeout_seconds)
        size = sum(len(each.value) for each in self._come)
        while 0 < len(self._come) < limit and size < BATCH_LIMIT_BYTES and self._look(0):
            size += len(self._come[-1].value)
        batch = self._first(limit)
        self._given += len(batch)
        return batch

    def _first(self, limit: int) -> list[Incoming]:
        batch: list[Incoming] = []
        size = 0
        while self._come and len(batch) < limit and size < BATCH_LIMIT_BYTES:
            batch.append(self._come.popleft())
            size += len(batch[-1].value)
        return batch

    def commit(self, batch: Sequence[Incoming]) -> None:
        """Record that everything up to and with this batch is settled, at the latest when polled.

        A failed commit is only logged: the records come again, and their repeats are dropped. Nor
        does one commit who is no member at the moment, or is still joining: with a name but without
        the newest member's id the broker takes it for another of that name, which ends the client
        for good. So the client's own commits by time are no way: it does not heed that.
        """
        self._settled.note({(each.topic, each.partition): each.offset + 1 for each in batch})
        self._commit_due()

    def idle(self, timeout_seconds: float) -> None:
        """Stay a member of the group while the last batch is tried again: poll, take nothing.

        What comes all the same, of a partition that is assigned meanwhile, is kept for `batch`.
        """
        self._asks_from = self._clock.monotonic_seconds()
        self._client.pause(self._client.assignment())
        try:
            self._commit_due()
            self._look(timeout_seconds)
        finally:
            self._client.resume(self._client.assignment())

    def assigned(self) -> int:
        """Return how many partitions this member reads now."""
        return len(self._client.assignment())

    def has_begun(self) -> bool:
        """Tell whether it is known of each partition where this member begins to read.

        One that begins at the end asks the brokers for it once the partition is assigned: of what
        is written before it knows, it may miss some.
        """
        places = self._client.assignment()
        known = [self._client.get_watermark_offsets(each, cached=True) for each in places]
        return bool(known) and all(found is not None and found[1] >= 0 for found in known)

    def times_assigned(self) -> int:
        """Return how often partitions were given to this member.

        A member that commits nothing has a gap before each time but the first.
        """
        return self._times_assigned

    def given(self) -> int:
        """Return how many records this member has given out."""
        return self._given

    def asking_seconds(self) -> float:
        """Return for how long it has asked for records without a pause, as a member or not."""
        return self._clock.monotonic_seconds() - self._asks_from

    def begin_anew(self, why: str) -> None:
        """Replace the client, for one that does not fetch what is there; see `Reading`."""
        log.error("nothing_comes", reason=why, next="a new client joins the group")
        self._replace()

    def positions(self) -> dict[Place, int]:
        """Return how far each partition was read that is this member's; below 0: not begun."""
        places = self._client.position(self._client.assignment())
        return {(each.topic, each.partition): each.offset for each in places}

    def unread(self, places: Collection[Place], timeout_seconds: float) -> Mapping[Place, int]:
        """Return how many records the brokers hold of partitions that this member has not read;
        only of those where there are any.

        Raises:
            Transient, Refused: the brokers do not say.
        """
        read = self._client.position([TopicPartition(*place) for place in places])
        return unread(self._client, read, timeout_seconds, from_beginning=self._from_beginning)

    def is_member(self) -> bool:
        """Tell whether the group has taken this member in; a spare one may read no partition."""
        return bool(self._client.memberid())

    def ends(self, timeout_seconds: float) -> Ends:
        """Return where everything ends that the brokers hold now; see `has_passed`.

        A partition that holds nothing is left out.

        Raises:
            Transient, Refused: the brokers do not say.
        """
        places = self._client.assignment()
        if not places:
            raise Transient("Kafka: no partition is assigned")
        found = zip(places, held(self._client, places, timeout_seconds), strict=True)
        return {(each.topic, each.partition): end for each, (begin, end) in found if begin < end}

    def has_passed(self, ends: Ends, *, from_start: bool = False) -> bool:
        """Tell whether everything before these ends has been given out.

        Where nothing was read yet, nothing has come since this member was given the partition;
        not so for one that reads `from_start`.
        """
        places = self._client.position(self._client.assignment())
        return not self._come and all(
            each.offset >= ends.get((each.topic, each.partition), each.offset)
            or (each.offset < 0 and not from_start)
            for each in places
        )

    def close(self) -> None:
        """Commit what is settled, and leave the group, so that others read on at once.

        A member with a name keeps its place where it is only closed: until it is back, or its
        session is over, nobody would read its partitions.
        """
        self._commit(self._settled.last())
        self._leave()
        self._client.close()

    def _leave(self) -> None:
        try:
            self._client.unsubscribe()
        except KafkaException:
            return  # whoever was fenced has no place to give up
        until = self._clock.monotonic_seconds() + _LEAVING_SECONDS
        while self.is_member() and self._clock.monotonic_seconds() < until:
            self._client.poll(0.01)

    def _open(self) -> Client:
        self._brokers, self._settled = KnownBrokers(), Settled()
        hear = {"error_cb": self._note_trouble, "logger": self._sayings}
        client = opened(Client, self._config | self._brokers.config() | hear)
        client.subscribe(
            self._topics,
            on_assign=self._note_assigned,
            on_revoke=self._note_revoked,
            on_lost=self._note_lost,
        )
        return client

    def _replace(self) -> None:
        """Go on with a new client; what is not committed comes again.

        The old one is closed on a thread that nobody waits for: a commit that it still holds back
        for a coordinator, of which it will never hear, can keep its closing for ever.
        """
        forgetful, self._client = self._client, self._open()
        self._come.clear()
        self._asks_from = self._clock.monotonic_seconds()
        threading.Thread(target=forgetful.close, name="forgetful", daemon=True).start()

    def _note_trouble(self, error: KafkaError) -> None:
        """Of a broker, a name, a connection; what cannot pass is said again by a poll."""
        self._settled.distrust()
        client = str(self._config["client.id"])
        self._sayings.log(WARNING, "", error.name(), client, error.str())

    def _note_assigned(self, client: Client, partitions: list[TopicPartition]) -> None:
        """Count, and let them flow: the client keeps the pause of what was lost while paused."""
        self._times_assigned += bool(partitions)
        client.resume(partitions)
        if partitions:
            self._settled.trust()

    def _note_revoked(self, client: Client, partitions: list[TopicPartition]) -> None:
        """Commit what is settled, so that the next reader begins after it; not for one replaced."""
        if client is self._client:
            self._commit(self._settled.last())
            self._let_go(partitions)

    def _note_lost(self, client: Client, partitions: list[TopicPartition]) -> None:
        """Forget: others read these partitions now, and may have committed more."""
        if client is self._client:
            self._settled.distrust()
            self._settled.last()
            self._let_go(partitions)

    def _let_go(self, partitions: list[TopicPartition]) -> None:
        """Drop what is not given out yet: whoever is given the partition reads it from Kafka."""
        gone = {(each.topic, each.partition) for each in partitions}
        kept = [each for each in self._come if (each.topic, each.partition) not in gone]
        self._come = deque(kept)

    def _commit_due(self) -> None:
        """Commit if it is time, and the client has heard of no trouble meanwhile.

        A commit for which there is no coordinator waits, and goes as whatever member it is by then.
        """
        now = self._clock.monotonic_seconds()
        if self._settled.is_time(now):
            self._look(0)
            self._commit(self._settled.due(now))

    def _look(self, timeout_seconds: float) -> bool:
        """Hear what has happened; tell whether a record has come, which is kept for `batch`."""
        come = self._poll(timeout_seconds)
        if come is not None:
            self._come.append(come)
        return come is not None

    def _commit(self, ends: Ends) -> None:
        if not ends:
            return
        if not (self.is_member() and self.assigned()):
            log.warning("commit_left_out", reason="not a member of the group at the moment")
            return
        # Of a partition that was given away meanwhile, its reader may have committed more.
        mine = {(each.topic, each.partition) for each in self._client.assignment()}
        offsets = [TopicPartition(*place, end) for place, end in ends.items() if place in mine]
        if not offsets:
            return
        try:
            self._client.commit(offsets=offsets, asynchronous=True)
        except KafkaException as error:
            log.warning("commit_failed", reason=str(error))

    def _poll(self, timeout_seconds: float) -> Incoming | None:
        """Return a record, if one comes; what a client gave that was replaced comes again."""
        message = self._client.poll(timeout_seconds)
        if self._brokers.are_forgotten():
            log.error("brokers_forgotten", next="a new client joins the group")
            self._replace()
            return None
        return None if message is None or not self._check(message) else incoming(message)

    def _check(self, message: ClientMessage) -> bool:
        error = message.error()
        if error is None:
            self._settled.trust()
            return True
        self._settled.distrust()
        if error.code() in _PASSING:
            log.warning("broker_away", reason=error.str())
            return False
        raise _sorted(error)


def _sorted(error: KafkaError) -> Exception:
    """Tell what ends the client from what passes: one that was fenced answers nothing any more."""
    return Ended(f"Kafka: {error.str()}") if is_fatal(error) else trouble(error)


def incoming(message: ClientMessage) -> Incoming:
    """Return a record as we hand it on."""
    topic, partition, offset = message.topic(), message.partition(), message.offset()
    if topic is None or partition is None or offset is None:
        raise Refused("Kafka: a record without a place")
    key = message.key()
    return Incoming(
        topic=topic,
        partition=partition,
        offset=offset,
        key=key.encode() if isinstance(key, str) else key,
        value=bytes(message.value() or b""),
        timestamp_ms=message.timestamp()[1],
    )
