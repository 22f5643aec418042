"""Producer, consumer, loop and topic admin on a real broker."""

import itertools
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence

import pytest

from services.backbone.errors import QueueFull, Refused, Transient
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.consumer import Consumer, Incoming
from services.backbone.kafka.producer import Outgoing, Producer, ProducerSettings
from services.backbone.kafka.settled import EVERY_SECONDS
from services.backbone.loop import ConsumerLoop, Step
from services.backbone.service import Life
from services.contracts.records import Malformed, Rejected
from services.contracts.topics import Topic, rejected
from services.machine.waiting import wait_until
from tests.topic import until_listed

pytestmark = pytest.mark.kafka


@pytest.fixture
def settings(kafka_bootstrap: str) -> ProducerSettings:
    return ProducerSettings(kafka_bootstrap_servers=kafka_bootstrap)


@pytest.fixture
def producer(settings: ProducerSettings) -> Iterator[Producer]:
    producer = Producer(settings, "test")
    yield producer
    producer.close()


@pytest.fixture
def topic(settings: ProducerSettings) -> str:
    name, admin = f"t-{uuid.uuid4().hex}", TopicAdmin(settings, "test")
    wanted = [Topic(name, partitions=2), Topic(rejected(name))]
    assert admin.declare(wanted) == [name, rejected(name)]
    until_listed(admin, name, rejected(name))
    return name


def read(settings: ProducerSettings, topic: str, count: int) -> list[Incoming]:
    consumer = Consumer(settings, "test", group=uuid.uuid4().hex, topics=[topic])
    found: list[Incoming] = []
    try:
        while len(found) < count:
            found += consumer.batch(count, 1.0)
    finally:
        consumer.close()
    return found


def test_what_was_acknowledged_is_there(
    settings: ProducerSettings, producer: Producer, topic: str
) -> None:
    records = [Outgoing(topic, f"k{n}", f"v{n}".encode()) for n in range(100)]
    assert producer.send(records).result(30) == [None] * 100
    assert {each.value for each in read(settings, topic, 100)} == {r.value for r in records}


def test_a_record_over_the_limit_is_refused_and_the_others_are_written(
    settings: ProducerSettings, producer: Producer, topic: str
) -> None:
    big = Outgoing(topic, "big", b"x" * 9 * 1024 * 1024)
    small = Outgoing(topic, "small", b"x")
    refused, written = producer.send([big, small]).result(30)
    assert isinstance(refused, Refused)
    assert written is None
    with pytest.raises(Refused):
        producer.write([big, small])


def test_a_broker_away_is_transient_and_a_full_queue_says_so() -> None:
    settings = ProducerSettings(
        kafka_bootstrap_servers="127.0.0.1:1",
        producer_timeout_seconds=1,
        producer_queue_messages=100,
    )
    producer = Producer(settings, "test")
    outcomes = producer.send([Outgoing("t", "k", b"v")] * 150).result(30)
    assert all(isinstance(outcome, Transient) for outcome in outcomes)
    assert sum(isinstance(outcome, QueueFull) for outcome in outcomes) == 50
    producer.close()


def test_topics_are_declared_once_and_never_repartitioned(
    settings: ProducerSettings, topic: str
) -> None:
    admin = TopicAdmin(settings, "test")
    assert admin.declare([Topic(topic, partitions=2)]) == []
    with pytest.raises(Refused, match="has 2 partitions, declared are 3"):
        admin.declare([Topic(topic, partitions=3)])


def test_a_topic_that_may_grow_gets_partitions_and_loses_none(
    settings: ProducerSettings, topic: str
) -> None:
    admin = TopicAdmin(settings, "test")
    grown = [Topic(topic, partitions=3, grows=True)]
    assert admin.declare(grown) == [topic]
    assert admin.declare(grown) == []
    assert admin.declare([Topic(topic, partitions=1, grows=True)]) == []
    wait_until(lambda: admin.partitions()[topic] == 3, 20, "no third partition is told of")


@pytest.mark.parametrize("asked_before", [None, 1])
def test_what_another_did_since_the_brokers_were_asked_is_left_as_it_is(
    settings: ProducerSettings,
    topic: str,
    monkeypatch: pytest.MonkeyPatch,
    asked_before: int | None,
) -> None:
    admin, grown = TopicAdmin(settings, "test"), [Topic(topic, partitions=3, grows=True)]
    TopicAdmin(settings, "another").declare(grown)
    known = {topic: asked_before} if asked_before else {}
    monkeypatch.setattr(admin, "partitions", lambda: known)
    assert admin.declare(grown) == []


def decode(value: bytes) -> int:
    try:
        return int(value)
    except ValueError:
        raise Malformed("not a number") from None


class Summing:
    """A step that fails a few times, then takes everything; stops the life when it has enough."""

    def __init__(self, life: Life, enough: int, failures: int) -> None:
        self._life = life
        self._enough = enough
        self._failures = failures
        self.taken: list[int] = []

    def __call__(self, batch: Sequence[int]) -> None:
        if self._failures:
            self._failures -= 1
            raise Transient("the store is away")
        self.taken += batch
        if len(self.taken) >= self._enough:
            self._life.stop.set()


def run_loop(
    settings: ProducerSettings,
    producer: Producer,
    topic: str,
    group: str,
    step: Step[int],
    life: Life,
    secure: Callable[[], None] | None = None,
    batch_limit: int = 500,
) -> None:
    consumer = Consumer(settings, "test", group=group, topics=[topic])
    ConsumerLoop(
        "test",
        consumer,
        producer,
        decode,
        step,
        life,
        batch_limit=batch_limit,
        secure=secure,
    ).run()
    consumer.close()


def test_the_loop_retries_what_is_transient_and_keeps_malformed_records_aside(
    settings: ProducerSettings, producer: Producer, topic: str
) -> None:
    values = [str(n).encode() for n in range(20)]
    producer.write(
        [Outgoing(topic, "k", value) for value in [*values[:10], b"\xff?", *values[10:]]]
    )
    life = Life()
    step = Summing(life, enough=20, failures=3)
    run_loop(settings, producer, topic, uuid.uuid4().hex, step, life)
    assert set(step.taken) == set(range(20))
    kept = Rejected.decode(read(settings, rejected(topic), 1)[0].value)
    assert (kept.original, kept.reason, kept.detail) == (b"\xff?", "malformed", "not a number")


def test_a_second_run_goes_on_where_the_first_committed(
    settings: ProducerSettings, producer: Producer, topic: str
) -> None:
    group = uuid.uuid4().hex
    for first in (0, 10):
        numbers = range(first, first + 10)
        producer.write([Outgoing(topic, "k", str(n).encode()) for n in numbers])
        life = Life()
        step = Summing(life, enough=10, failures=0)
        run_loop(settings, producer, topic, group, step, life)
        assert step.taken == list(numbers)


def test_what_cannot_be_secured_comes_again_and_is_committed_only_then(
    settings: ProducerSettings, producer: Producer, topic: str
) -> None:
    group, life = uuid.uuid4().hex, Life()
    producer.write([Outgoing(topic, "k", str(n).encode()) for n in range(5)])
    step, undone = Summing(life, enough=15, failures=0), iter([True, True])

    def secure() -> None:
        if next(undone, False):
            raise Transient("a crash has undone it")

    run_loop(settings, producer, topic, group, step, life, secure)
    assert step.taken == [*range(5)] * 3
    assert left(settings, producer, topic, group) == []


def test_what_is_not_secured_when_we_must_stop_is_left_to_the_next_run(
    settings: ProducerSettings, producer: Producer, topic: str
) -> None:
    group, life = uuid.uuid4().hex, Life()
    producer.write([Outgoing(topic, "k", str(n).encode()) for n in range(5)])
    step = Summing(life, enough=5, failures=0)

    def secure() -> None:
        raise Transient("the store is away")

    run_loop(settings, producer, topic, group, step, life, secure)
    assert left(settings, producer, topic, group) == [*range(5)]


def left(settings: ProducerSettings, producer: Producer, topic: str, group: str) -> list[int]:
    """Return what the next run of a group takes before one more record, which is written now."""
    life, taken = Life(), list[int]()
    producer.write([Outgoing(topic, "k", b"99")])

    def step(batch: Sequence[int]) -> None:
        taken.extend(batch)
        if 99 in batch:
            life.stop.set()

    run_loop(settings, producer, topic, group, step, life)
    return taken[:-1]


def test_what_comes_while_a_batch_is_tried_again_is_not_committed_before_it_is_taken(
    settings: ProducerSettings, producer: Producer, topic: str
) -> None:
    """More waits than is taken at once, and the program is told to stop soon after the retry."""
    group, life, numbers = uuid.uuid4().hex, Life(), range(100, 400)
    producer.write([Outgoing(topic, "k", str(n).encode()) for n in numbers])
    taken: list[int] = []
    calls = itertools.count(1)

    def step(batch: Sequence[int]) -> None:
        call = next(calls)
        if call in (3, 4, 5):
            time.sleep(1.5 * EVERY_SECONDS)  # meanwhile more comes, and it is time for a commit
        if call in (3, 4):
            raise Transient("the store is away")
        taken.extend(batch)
        if call == 6:
            life.stop.set()

    run_loop(settings, producer, topic, group, step, life, batch_limit=10)
    assert taken == sorted(taken)
    assert {*taken, *left(settings, producer, topic, group)} == {*numbers}


def test_a_step_that_breaks_ends_the_loop_and_commits_nothing(
    settings: ProducerSettings, producer: Producer, topic: str
) -> None:
    producer.write([Outgoing(topic, "k", b"7")])
    group = uuid.uuid4().hex

    def broken(batch: Sequence[int]) -> None:
        raise KeyError(f"a bug that shows with {batch}")

    consumer = Consumer(settings, "test", group=group, topics=[topic])
    with pytest.raises(KeyError):
        ConsumerLoop("test", consumer, producer, decode, broken, Life()).run()
    consumer.close()
    life = Life(stop=threading.Event())
    step = Summing(life, enough=1, failures=0)
    run_loop(settings, producer, topic, group, step, life)
    assert step.taken == [7]


def test_what_was_lost_during_a_pause_flows_when_it_comes_back(
    settings: ProducerSettings, producer: Producer, topic: str
) -> None:
    """A batch is tried again while another member takes a partition, and later leaves."""
    group = uuid.uuid4().hex
    patient = Consumer(settings, "test", group=group, topics=[topic])
    other = Consumer(settings, "test", group=group, topics=[topic])
    try:
        while (patient.assigned(), other.assigned()) != (1, 1):
            patient.idle(0.1)
            other.batch(1, 0.1)
        other.close()
        producer.write([Outgoing(topic, f"k{n}", str(n).encode()) for n in range(100)])
        found: set[bytes] = set()
        while len(found) < 100:
            found |= {each.value for each in patient.batch(100, 0.5)}
    finally:
        patient.close()
    assert found == {str(n).encode() for n in range(100)}


def test_nothing_is_lost_that_comes_while_a_batch_is_tried_again(
    settings: ProducerSettings, producer: Producer, topic: str
) -> None:
    producer.write([Outgoing(topic, f"k{n}", str(n).encode()) for n in range(100)])
    consumer = Consumer(settings, "test", group=uuid.uuid4().hex, topics=[topic])
    found: list[bytes] = []
    try:
        while len(found) < 100:
            consumer.idle(0.2)  # the first of them are still joining the group: nothing is paused
            found += [each.value for each in consumer.batch(7, 0.2)]
    finally:
        consumer.close()
    assert sorted(found) == sorted(str(n).encode() for n in range(100))


def unread(consumer: Consumer) -> int:
    return sum(consumer.unread(consumer.positions(), 10).values())


def test_what_waits_unread_is_counted_also_by_a_member_that_has_read_nothing_yet(
    settings: ProducerSettings, producer: Producer, topic: str
) -> None:
    group = uuid.uuid4().hex
    producer.write([Outgoing(topic, f"k{n}", str(n).encode()) for n in range(20)])
    first = Consumer(settings, "test", group=group, topics=[topic])
    read = 0
    while read < 20:
        read += len(batch := first.batch(7, 0.2))
        first.commit(batch)
        assert not first.assigned() or unread(first) <= 20 - read
    assert (first.given(), unread(first)) == (20, 0)
    first.close()
    producer.write([Outgoing(topic, f"k{n}", str(n).encode()) for n in range(20)])
    second = Consumer(settings, "test", group=group, topics=[topic])
    while not second.assigned():
        second.idle(0.2)
    assert unread(second) >= 20 - second.assigned()  # what came while it joined is in its hands
    second.close()


def test_what_was_settled_right_before_the_end_does_not_come_again(
    settings: ProducerSettings, producer: Producer, topic: str
) -> None:
    group = uuid.uuid4().hex
    producer.write([Outgoing(topic, f"k{n}", str(n).encode()) for n in range(20)])
    first = Consumer(settings, "test", group=group, topics=[topic])
    for _ in range(20):
        while not (batch := first.batch(1, 0.2)):
            continue
        first.commit(batch)
    first.close()
    second = Consumer(settings, "test", group=group, topics=[topic])
    while not second.assigned():
        assert second.batch(1, 0.2) == []
    assert unread(second) == 0
    second.close()


def test_one_that_begins_at_the_end_misses_nothing_of_what_was_there(
    settings: ProducerSettings, producer: Producer, topic: str
) -> None:
    producer.write([Outgoing(topic, f"k{n}", str(n).encode()) for n in range(20)])
    group = uuid.uuid4().hex
    consumer = Consumer(settings, "test", group=group, topics=[topic], from_beginning=False)
    while not consumer.has_begun():
        assert consumer.batch(1, 0.2) == []
    assert unread(consumer) == 0
    producer.write([Outgoing(topic, f"k{n}", str(n).encode()) for n in range(20)])
    read = 0
    while read < 20:
        read += len(batch := consumer.batch(7, 0.2))
        consumer.commit(batch)
        assert unread(consumer) <= 20 - read
    consumer.close()


def test_a_member_without_a_partition_misses_nothing(
    settings: ProducerSettings, producer: Producer, topic: str
) -> None:
    producer.write([Outgoing(topic, "k", b"1")])
    consumer = Consumer(settings, "test", group=uuid.uuid4().hex, topics=[topic])
    assert (consumer.assigned(), unread(consumer)) == (0, 0)
    consumer.close()
