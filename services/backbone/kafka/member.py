"""One member of a consumer group: it joins, hears what comes, commits what is settled, leaves."""

import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from logging import WARNING
from typing import Final

from confluent_kafka import Consumer as Client
from confluent_kafka import KafkaError, KafkaException, TopicPartition
from confluent_kafka import Message as ClientMessage

from services.backbone.clock import Clock
from services.backbone.errors import Ended
from services.backbone.kafka.client import Config, is_fatal, opened, trouble
from services.backbone.kafka.known_brokers import KnownBrokers
from services.backbone.kafka.sayings import Sayings
from services.backbone.kafka.settled import Ends, Place, Settled
from services.backbone.log import logger

log = logger(__name__)

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

LetGo = Callable[[Collection[Place] | None], None]
"""Hears of partitions that are no longer the member's; of None, all, where a new client begins."""


class Member:
    """A client in a group, replaced where it cannot go on; what is heard comes while it is polled.

    Raises:
        Refused: at its making, by options that the client cannot be opened with.
    """

    def __init__(self, config: Config, topics: Sequence[str], clock: Clock, let_go: LetGo) -> None:
        self._config, self._topics = config, list(topics)
        self._clock, self._sayings, self._let_go = clock, Sayings(), let_go
        self.times_assigned = 0
        """How often partitions were given to it."""
        self.client = self._open()

    def is_in(self) -> bool:
        """Tell whether the group has taken it in."""
        return bool(self.client.memberid())

    def poll(self, timeout_seconds: float) -> ClientMessage | None:
        """Return a record, if one comes; what a client gave that was replaced comes again.

        Raises:
            Transient, Refused: the broker's answer, sorted; a broker away is only logged.
            Ended: the client cannot go on, for example since another took its name.
        """
        message = self.client.poll(timeout_seconds)
        if self._brokers.are_forgotten():
            log.error("brokers_forgotten", next="a new client joins the group")
            self.replace()
            return None
        return None if message is None or not self._check(message) else message

    def settle(self, ends: Ends) -> None:
        """Note that everything before these ends is settled."""
        self._settled.note(ends)

    def is_time(self, now_seconds: float) -> bool:
        """Tell whether something is to be committed by now."""
        return self._settled.is_time(now_seconds)

    def commit_due(self, now_seconds: float) -> None:
        """Commit what is to be by now, unless the group may not count on this member."""
        self._commit(self._settled.due(now_seconds))

    def replace(self) -> None:
        """Go on with a new client; what is not committed comes again.

        The old one is closed on a thread that nobody waits for: a commit that it still holds back
        for a coordinator, of which it will never hear, can keep its closing for ever.
        """
        forgetful, self.client = self.client, self._open()
        self._let_go(None)
        threading.Thread(target=forgetful.close, name="forgetful", daemon=True).start()

    def close(self) -> None:
        """Commit what is settled, leave the group, and close."""
        self._commit(self._settled.last())
        self._leave()
        self.client.close()

    def _leave(self) -> None:
        try:
            self.client.unsubscribe()
        except KafkaException:
            return  # whoever was fenced has no place to give up
        until = self._clock.monotonic_seconds() + _LEAVING_SECONDS
        while self.is_in() and self._clock.monotonic_seconds() < until:
            self.client.poll(0.01)

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

    def _note_trouble(self, error: KafkaError) -> None:
        """Of a broker, a name, a connection; what cannot pass is said again by a poll."""
        self._settled.distrust()
        client = str(self._config["client.id"])
        self._sayings.log(WARNING, "", error.name(), client, error.str())

    def _note_assigned(self, client: Client, partitions: list[TopicPartition]) -> None:
        """Count, and let them flow: the client keeps the pause of what was lost while paused."""
        self.times_assigned += bool(partitions)
        client.resume(partitions)
        if partitions:
            self._settled.trust()

    def _note_revoked(self, client: Client, partitions: list[TopicPartition]) -> None:
        """Commit what is settled, so that the next reader begins after it; not for one replaced."""
        if client is self.client:
            self._commit(self._settled.last())
            self._let_go(_places(partitions))

    def _note_lost(self, client: Client, partitions: list[TopicPartition]) -> None:
        """Forget: others read these partitions now, and may have committed more."""
        if client is self.client:
            self._settled.distrust()
            self._settled.last()
            self._let_go(_places(partitions))

    def _commit(self, ends: Ends) -> None:
        if not ends:
            return
        if not (self.is_in() and self.client.assignment()):
            log.warning("commit_left_out", reason="not a member of the group at the moment")
            return
        # Of a partition that was given away meanwhile, its reader may have committed more.
        mine = _places(self.client.assignment())
        offsets = [TopicPartition(*place, end) for place, end in ends.items() if place in mine]
        if not offsets:
            return
        try:
            self.client.commit(offsets=offsets, asynchronous=True)
        except KafkaException as error:
            log.warning("commit_failed", reason=str(error))

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


def _places(partitions: Iterable[TopicPartition]) -> set[Place]:
    return {(each.topic, each.partition) for each in partitions}


def _sorted(error: KafkaError) -> Exception:
    """Tell what ends the client from what passes: one that was fenced answers nothing any more."""
    return Ended(f"Kafka: {error.str()}") if is_fatal(error) else trouble(error)
