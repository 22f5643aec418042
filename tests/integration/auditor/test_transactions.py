"""Streams that publishers write in ways of their own: in transactions, with their own times."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count, islice
from random import randbytes

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession
from structlog.testing import capture_logs

from auditor.changes import candidate, catch_up
from auditor.changes.ahead import LOOK_SECONDS, Ahead
from auditor.checkpoints.ranges import Range
from engine.brokers import asking, kept_offsets
from services.backbone.clock import Clock, ManualClock, SystemClock
from services.backbone.kafka.partitions import partitions_of
from services.contracts.topics import heartbeat
from services.machine.waiting import wait_until
from tests.integration.auditor.inside import Inside, settings_of
from tests.integration.auditor.running import Findings, Place, Sender, delete_all
from tests.topic import configure

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

READ_COMMITTED = {"isolation.level": "read_committed"}


class InTransactions(Sender):
    """A sender each of whose orders is one transaction."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._client = Producer(
            {"bootstrap.servers": place.bootstrap, "transactional.id": place.name}
        )
        self._client.init_transactions(30)

    def begin(self, order_id: str) -> None:
        self._client.begin_transaction()
        self.request(order_id, 1)
        self.purchase(f"{order_id}-p", order_id, 2)
        self.flush()

    def end(self, *, is_kept: bool) -> None:
        self.flush()
        end = self._client.commit_transaction if is_kept else self._client.abort_transaction
        end(30)

    def over(self, order_id: str, *, is_kept: bool) -> None:
        self.begin(order_id)
        self.end(is_kept=is_kept)


def order_in(partition: int, number: int) -> str:
    """Return the id of the so-manieth order that lies in this partition."""
    names = (name for name in map(str, count()) if partitions_of(name.encode(), 2) == {partition})
    return next(islice(names, number, None))


def test_what_is_aborted_is_not_judged_where_only_what_is_committed_is_read(
    spark: SparkSession, place: Place
) -> None:
    place.declare("over-purchase")
    sender, alerts = InTransactions(place), Findings(place)
    # Of one partition, so that who has read the second has passed the first.
    aborted, kept = order_in(0, 0), order_in(0, 1)
    sender.over(aborted, is_kept=False)
    sender.over(kept, is_kept=True)
    with Inside(spark, settings_of(place, auditor_kafka_options=READ_COMMITTED)) as inside:
        inside.look_until("what is kept is found", lambda: kept in alerts.found())
    assert aborted not in alerts.found()


@contextmanager
def changing(place: Place, inside: Inside) -> Iterator[Callable[[], bool]]:
    """Change the watch's rule; give what goes on with that, and tells whether it has taken over."""
    rule = place.folder / "watches" / "over-purchase.yaml"
    rule.write_text(rule.read_text().replace("limit: 24 hours", "limit: 25 hours"))
    before = inside.checkpoint("over-purchase").folder
    with inside.reload() as reload:

        def has_taken_over() -> bool:
            reload.look()
            return inside.checkpoint("over-purchase").folder != before

        yield has_taken_over


def test_a_changed_rule_takes_over_where_transactions_end_quiet_partitions(
    spark: SparkSession, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.declare("over-purchase")
    sender, alerts = InTransactions(place), Findings(place)
    monkeypatch.setattr(candidate, "CATCH_UP_SECONDS", 2.0)
    orders = {f"order-{number}" for number in range(8)}
    for order_id in orders:
        sender.over(order_id, is_kept=True)
    with Inside(spark, settings_of(place, auditor_slots=10)) as inside:
        inside.look_until("orders are found", lambda: orders <= alerts.found())
        with changing(place, inside) as has_taken_over:
            inside.look_until("it takes over", has_taken_over)


def test_a_changed_rule_takes_over_where_partitions_are_never_quiet_for_long(
    spark: SparkSession, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Right after each batch a transaction ends in each partition, which the next batch reads: by
    the time from which on nothing counts, it is the last of its partition."""
    place.declare("over-purchase")
    sender, alerts = InTransactions(place), Findings(place)
    monkeypatch.setattr(candidate, "CATCH_UP_SECONDS", 10.0)
    monkeypatch.setattr(catch_up, "BEFORE_SECONDS", 0.5)
    sent: list[str] = []

    def send() -> None:
        for partition in (0, 1):
            sent.append(order_in(partition, len(sent)))
            sender.over(sent[-1], is_kept=True)

    send()
    with Inside(spark, settings_of(place, auditor_slots=10)) as inside, capture_logs() as logs:
        inside.look_until("orders are found", lambda: set(sent) <= alerts.found())
        with changing(place, inside) as has_taken_over:

            def goes_on() -> bool:
                ended = [each for each in logs if each["event"] == "boundary"]
                new = [each for each in ended if each["watch"] == "over-purchase+new"]
                if len(sent) < 2 * (1 + len(new)):
                    send()
                return has_taken_over()

            inside.look_until("it takes over", goes_on)


def test_a_changed_rule_takes_over_behind_what_is_not_committed(
    spark: SparkSession, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One partition ends with an aborted transaction, the other with one that goes on."""
    place.declare("over-purchase")
    sender, alerts = InTransactions(place), Findings(place)
    monkeypatch.setattr(candidate, "CATCH_UP_SECONDS", 2.0)
    kept = {order_in(partition, 0) for partition in (0, 1)}
    for order_id in kept:
        sender.over(order_id, is_kept=True)
    sender.over(order_in(0, 1), is_kept=False)
    sender.begin(order_in(1, 1))
    strict = settings_of(place, auditor_slots=10, auditor_kafka_options=READ_COMMITTED)
    with Inside(spark, strict) as inside:
        inside.look_until("what is kept is found", lambda: kept <= alerts.found())
        with changing(place, inside) as has_taken_over:
            inside.look_until("it takes over", has_taken_over)


class Jumping(ManualClock):
    """A clock by which each look has no more time after its first answer."""

    def monotonic_seconds(self) -> float:
        self.move(LOOK_SECONDS)
        return super().monotonic_seconds()


class Looker:
    """Looks ahead over the first partition of a place's stream, as strictly as it is told."""

    def __init__(
        self, spark: SparkSession, place: Place, clock: Clock, more: Mapping[str, str]
    ) -> None:
        self._spark, self._stream = spark, place.stream
        self._options = {**settings_of(place).kafka_client_options(), **more}
        self._ahead = Ahead(spark, self._options, clock)

    def wait_for_end(self, end: int) -> None:
        """Wait until that is the end of what is there for this reader."""

        def ends() -> bool:
            _, newest = kept_offsets(self._spark, self._options, [self._stream])
            return newest[self._stream][0] == end

        wait_until(ends, 30, f"the end is not {end}")

    def is_clear(self, first: int, end: int) -> bool:
        return self._ahead.is_clear([Range(self._stream, 0, first, end)])


def test_what_no_reader_is_given_hides_nothing_and_is_no_record(
    spark: SparkSession, place: Place
) -> None:
    place.declare("over-purchase")
    sender = InTransactions(place)
    each, strict = (Looker(spark, place, SystemClock(), more) for more in ({}, READ_COMMITTED))
    sender.over(order_in(0, 0), is_kept=True)
    each.wait_for_end(3)
    assert [each.is_clear(first, 3) for first in (0, 1, 2)] == [False, False, True]
    sender.over(order_in(0, 1), is_kept=False)
    strict.wait_for_end(6)
    assert strict.is_clear(2, 6)
    assert [each.is_clear(2, end) for end in (3, 4)] == [True, False]
    sender.begin(order_in(0, 2))
    each.wait_for_end(8)
    strict.wait_for_end(6)
    assert not strict.is_clear(2, 8)
    sender.end(is_kept=True)
    strict.wait_for_end(9)
    assert [strict.is_clear(2, end) for end in (6, 9)] == [True, False]
    delete_all(place)
    assert each.is_clear(0, 9)


def test_a_look_goes_on_where_the_last_one_had_no_more_time(
    spark: SparkSession, place: Place
) -> None:
    place.declare("over-purchase")
    sender, key = InTransactions(place), order_in(0, 0)
    looker = Looker(spark, place, Jumping(), READ_COMMITTED)
    sender.begin(key)
    for _ in range(8):
        sender.raw(randbytes(400_000), key)
    sender.end(is_kept=False)
    looker.wait_for_end(11)
    assert not looker.is_clear(0, 11)
    wait_until(lambda: looker.is_clear(0, 11), 30, "it begins anew each time")


def test_a_topic_with_its_publishers_times_is_told_from_others(
    spark: SparkSession, place: Place
) -> None:
    place.declare("over-purchase")
    options = settings_of(place).kafka_client_options()
    nowhere = f"{place.stream}-nowhere"
    topics = [place.stream, heartbeat(place.stream), nowhere]
    with asking(spark, options) as brokers:
        with capture_logs() as logs:
            assert brokers.with_publishers_times(topics) == []
            assert brokers.with_publishers_times(topics) == []
        configure(place.bootstrap, place.stream, "message.timestamp.type", "CreateTime")
        assert brokers.with_publishers_times(topics) == [place.stream]
    assert [each["topic"] for each in logs if each["event"] == "times_unknown"] == [nowhere]
