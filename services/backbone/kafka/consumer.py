"""A consumer that gives small batches at once and commits only what is settled."""

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from confluent_kafka import Consumer as Client
from confluent_kafka import Message as ClientMessage
from confluent_kafka import TopicPartition

from services.backbone.clock import SystemClock
from services.backbone.errors import Refused, Transient
from services.backbone.kafka.client import member_config
from services.backbone.kafka.held import held, unread
from services.backbone.kafka.member import Member
from services.backbone.kafka.settled import Ends, Place
from services.backbone.log import logger
from services.backbone.settings import KafkaSettings

log = logger(__name__)

BATCH_LIMIT_BYTES: Final = 4 * 1024 * 1024
"""Once its records have so many, a batch is full: read, they take ten times that in memory."""


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
    """Gives out what one member of a group reads; use from one thread only.

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
        self._given = 0
        self._from_beginning = from_beginning
        # All that comes goes through here: what is given out has no gap behind it, so that a
        # commit never covers a record that only we hold.
        self._come: deque[Incoming] = deque()
        self._clock = SystemClock()
        self._asks_from = self._clock.monotonic_seconds()
        self._member = Member(config, topics, self._clock, self._let_go)

    @property
    def _client(self) -> Client:
        return self._member.client

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
        self._member.settle({(each.topic, each.partition): each.offset + 1 for each in batch})
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
        return self._member.times_assigned

    def given(self) -> int:
        """Return how many records this member has given out."""
        return self._given

    def asking_seconds(self) -> float:
        """Return for how long it has asked for records without a pause, as a member or not."""
        return self._clock.monotonic_seconds() - self._asks_from

    def begin_anew(self, why: str) -> None:
        """Replace the client, for one that does not fetch what is there; see `Reading`."""
        log.error("nothing_comes", reason=why, next="a new client joins the group")
        self._member.replace()

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
        return self._member.is_in()

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
        self._member.close()

    def _let_go(self, gone: Collection[Place] | None) -> None:
        """Drop what is not given out yet: whoever is given the partition reads it from Kafka."""
        if gone is None:
            self._come.clear()
            self._asks_from = self._clock.monotonic_seconds()
        else:
            kept = [each for each in self._come if (each.topic, each.partition) not in gone]
            self._come = deque(kept)

    def _commit_due(self) -> None:
        """Commit if it is time, and the client has heard of no trouble meanwhile.

        A commit for which there is no coordinator waits, and goes as whatever member it is by then.
        """
        now = self._clock.monotonic_seconds()
        if self._member.is_time(now):
            self._look(0)
            self._member.commit_due(now)

    def _look(self, timeout_seconds: float) -> bool:
        """Hear what has happened; tell whether a record has come, which is kept for `batch`."""
        message = self._member.poll(timeout_seconds)
        if message is not None:
            self._come.append(incoming(message))
        return message is not None


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
