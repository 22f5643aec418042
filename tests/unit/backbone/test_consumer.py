"""Nothing is committed that only its reader holds, whatever happens; held against a plain model."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import pytest
from confluent_kafka import KafkaError, Message, TopicPartition
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from services.backbone.clock import ManualClock
from services.backbone.errors import Trouble
from services.backbone.kafka import consumer, member
from services.backbone.kafka.consumer import Consumer, Incoming
from services.backbone.kafka.settled import EVERY_SECONDS
from services.backbone.settings import KafkaSettings

TOPIC = "t"
PARTITIONS = (0, 1)
ANY_PARTITION = st.sampled_from(PARTITIONS)
AWAY = KafkaError._TRANSPORT  # noqa: SLF001 - the client's public name for it
ERRORS = st.sampled_from([AWAY, KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.UNKNOWN])
ENOUGH_TRIES = 1000
SPANS = st.sampled_from([0.0, EVERY_SECONDS])
News = Callable[[], Message | None]
"""What a poll finds instead of a record."""


@dataclass
class Group:
    """What the brokers know: how much there is of each partition, and how far it is committed."""

    ends: dict[int, int] = field(default_factory=lambda: dict.fromkeys(PARTITIONS, 20))
    committed: dict[int, int] = field(default_factory=lambda: dict.fromkeys(PARTITIONS, 0))
    done: dict[int, set[int]] = field(default_factory=lambda: {each: set() for each in PARTITIONS})
    """What was settled, by whomever."""

    def read_on(self, partition: int, records: int) -> None:
        """Have another member settle and commit some."""
        first = self.committed[partition]
        last = min(first + records, self.ends[partition])
        self.done[partition].update(range(first, last))
        self.committed[partition] = last


class ScriptedClient:
    """Stands in for the Kafka client: polls find news first, then records of each in turn."""

    def __init__(self, group: Group) -> None:
        self._group = group
        self._polls = 0
        self._paused: set[int] = set()
        self._is_member = True
        self.places: dict[int, int] = {}
        self.next_out: dict[int, int] = {}
        """What must be given out next of each assigned partition."""
        self.news: deque[News] = deque()

    def subscribe(self, topics: Sequence[str], **callbacks: Callable[..., None]) -> None:
        self._callbacks = callbacks

    def poll(self, timeout_seconds: float) -> Message | None:
        if self.news:
            return self.news.popleft()()
        ready = [each for each in self.unread() if each not in self._paused]
        if not ready:
            return None
        self._polls += 1
        partition = ready[self._polls % len(ready)]
        self.places[partition] += 1
        offset = self.places[partition] - 1
        return Message(TOPIC, partition, offset, None, b"x", timestamp=(1, 0))

    def unread(self) -> list[int]:
        return [each for each, at in self.places.items() if at < self._group.ends[each]]

    def assignment(self) -> list[TopicPartition]:
        return of(self.places)

    def pause(self, partitions: Iterable[TopicPartition]) -> None:
        self._paused.update(each.partition for each in partitions)

    def resume(self, partitions: Iterable[TopicPartition]) -> None:
        self._paused.difference_update(each.partition for each in partitions)

    def memberid(self) -> str:
        return "a member" if self._is_member else ""

    def unsubscribe(self) -> None:
        self.news.append(self._leave)

    def commit(self, offsets: Sequence[TopicPartition], asynchronous: bool) -> None:
        for each in offsets:
            assert each.partition in self.places, "commits what another may read"
            self._group.committed[each.partition] = each.offset

    def close(self) -> None:
        assert not self._is_member, "the group waits for one that is closed"

    def _leave(self) -> None:
        self._callbacks["on_revoke"](self, self.assignment())
        self.places.clear()
        self._is_member = False

    def give(self, partition: int) -> None:
        """News: a partition is assigned."""
        self.places[partition] = self.next_out[partition] = self._group.committed[partition]
        self._callbacks["on_assign"](self, of([partition]))

    def take_away(self, partition: int, by: str, read_on: int) -> None:
        """News: a partition is another's now, who reads on."""
        self._callbacks[by](self, of([partition]))
        del self.places[partition], self.next_out[partition]
        self._group.read_on(partition, read_on)


def of(partitions: Iterable[int]) -> list[TopicPartition]:
    return [TopicPartition(TOPIC, each) for each in partitions]


def opened(client: ScriptedClient, clock: ManualClock) -> Consumer:
    def made(_: object) -> ScriptedClient:
        return client

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(member, "Client", made)
        patched.setattr(consumer, "SystemClock", lambda: clock)
        settings = KafkaSettings(kafka_bootstrap_servers="nowhere:1")
        return Consumer(settings, "test", group="g", topics=[TOPIC])


class AnyLife(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.group, self.clock = Group(), ManualClock()
        self.client = ScriptedClient(self.group)
        self.reader = opened(self.client, self.clock)
        self.hands: deque[list[Incoming]] = deque()
        self.ours: set[int] = set()
        """What is assigned to us once all news is heard."""
        for partition in PARTITIONS:
            self.give(partition)

    @rule(partition=ANY_PARTITION, records=st.integers(1, 5))
    def write(self, partition: int, records: int) -> None:
        self.group.ends[partition] += records

    @rule(
        limits=st.lists(st.integers(1, 4), max_size=3),
        retries=st.lists(SPANS, max_size=2),
        settled=st.lists(SPANS, max_size=3),
    )
    def turn(self, limits: list[int], retries: list[float], settled: list[float]) -> None:
        """Take some batches, try again for a while, settle the oldest in hand; as a program may."""
        for limit in limits:
            self.take(limit)
        for seconds in retries:
            self.clock.move(seconds)
            with suppress(Trouble):
                self.reader.idle(0.0)
        for seconds in settled[: len(self.hands)]:
            self.clock.move(seconds)
            self.settle()

    def take(self, limit: int) -> None:
        batch: list[Incoming] = []
        with suppress(Trouble):
            batch = self.reader.batch(limit, 0.0)
        assert len(batch) <= limit
        for each in batch:
            assert self.client.next_out[each.partition] == each.offset, "a gap, or not in order"
            self.client.next_out[each.partition] += 1
        if batch:
            self.hands.append(batch)

    def settle(self) -> None:
        batch = self.hands.popleft()
        for each in batch:
            self.group.done[each.partition].add(each.offset)
        with suppress(Trouble):
            self.reader.commit(batch)

    @rule(code=ERRORS | st.none())
    def hear_of_trouble_or_of_nothing(self, code: int | None) -> None:
        self.client.news.append(lambda: None if code is None else Message(error=KafkaError(code)))

    @rule(
        partition=ANY_PARTITION,
        by=st.sampled_from(["on_revoke", "on_lost"]),
        read_on=st.integers(0, 4),
    )
    def move(self, partition: int, by: str, read_on: int) -> None:
        if partition not in self.ours:
            self.give(partition)
            return
        self.ours.remove(partition)
        self.client.news.append(lambda: self.client.take_away(partition, by, read_on))

    @invariant()
    def what_is_committed_was_settled(self) -> None:
        for partition, end in self.group.committed.items():
            assert self.group.done[partition].issuperset(range(end)), "a record is lost"

    def give(self, partition: int) -> None:
        if partition not in self.ours:
            self.ours.add(partition)
            self.client.news.append(lambda: self.client.give(partition))

    def teardown(self) -> None:
        """Whatever was, it ends well: all is given out, settled and committed."""
        for partition in PARTITIONS:
            self.give(partition)
            self.write(partition, 1)
        tries = iter(range(ENOUGH_TRIES))
        while self.has_more() and next(tries, None) is not None:
            self.take(4)
        while self.hands:
            self.settle()
        self.reader.close()
        assert self.group.committed == self.group.ends

    def has_more(self) -> bool:
        """Tell whether there is news, or a record that is not given out yet."""
        return bool(self.client.news) or self.client.next_out != self.group.ends


test_any_life = AnyLife.TestCase


def test_of_long_records_a_batch_has_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumer, "BATCH_LIMIT_BYTES", 3)
    client = ScriptedClient(Group())
    reader = opened(client, ManualClock())
    client.news.append(lambda: client.give(0))
    batches = [reader.batch(10, 0.0) for _ in range(8)]
    assert [len(each) for each in batches] == [0, 3, 3, 3, 3, 3, 3, 2]
    assert [each.offset for batch in batches for each in batch] == list(range(20))
