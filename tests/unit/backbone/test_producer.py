"""A producer whose client ends for good: nobody waits for ever, and it says that it has ended."""

import ctypes
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, Final

import confluent_kafka
import pytest
from confluent_kafka import KafkaError, cimpl

from services.backbone.errors import Ended, NoTopic, Transient
from services.backbone.kafka import producer
from services.backbone.kafka.producer import Outgoing, Producer, ProducerSettings
from services.machine.waiting import wait_until

SETTINGS: Final = ProducerSettings(kafka_bootstrap_servers="127.0.0.1:1")
RECORDS: Final = [Outgoing("t", "k", b"v")] * 3
WAIT_SECONDS: Final = 10
LIBRARY: Final = ctypes.CDLL(cimpl.__file__)
"""Through the client's own module, whose symbols are those of the librdkafka that it has loaded."""


class Watched:
    """A producer, and the client that it has made."""

    def __init__(self, kind: Callable[[dict[str, Any]], Any]) -> None:
        self._kind = kind
        self.client: Any = None
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(producer, "Client", self._made)
            self.producer = Producer(SETTINGS, "test")

    def _made(self, config: dict[str, Any]) -> Any:
        self.client = self._kind(config)
        return self.client


@pytest.fixture
def watched() -> Iterator[Watched]:
    made = Watched(confluent_kafka.Producer)
    yield made
    made.producer.close(0)


def end_for_good(client: confluent_kafka.Producer) -> None:
    """Let librdkafka raise a fatal error, by its hook for tests, which Python does not offer."""
    pointer = ctypes.c_void_p.from_address(id(client) + object.__basicsize__)
    LIBRARY.rd_kafka_name.restype = ctypes.c_char_p
    assert LIBRARY.rd_kafka_name(pointer).startswith(b"test#producer-")
    code = KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert LIBRARY.rd_kafka_test_fatal_error(pointer, code, b"a gap") == 0


def test_what_is_under_way_when_the_client_ends_is_given_back(watched: Watched) -> None:
    under_way = watched.producer.send(RECORDS)
    assert watched.producer.unusable() is None
    end_for_good(watched.client)
    outcomes = under_way.result(WAIT_SECONDS)
    assert all(isinstance(each, Transient) for each in outcomes)


def test_a_producer_says_why_its_client_has_ended_and_takes_nothing_more(watched: Watched) -> None:
    watched.producer.ensure_usable()
    end_for_good(watched.client)
    wait_until(lambda: "a gap" in (watched.producer.unusable() or ""), WAIT_SECONDS, "says nothing")
    with pytest.raises(Ended, match="a gap"):
        watched.producer.ensure_usable()
    with pytest.raises(Transient):
        watched.producer.write(RECORDS)


def test_whoever_gives_up_waiting_harms_nobody(watched: Watched) -> None:
    given_up = watched.producer.send(RECORDS)
    waited_for = watched.producer.send(RECORDS)
    assert given_up.cancel()
    watched.client.purge()
    assert len(waited_for.result(WAIT_SECONDS)) == len(RECORDS)
    assert watched.producer.unusable() is None


class Faulty:
    """A client with a bug in what it calls back, once."""

    def __init__(self, config: dict[str, Any]) -> None:
        self._waiting: list[Callable[[None, None], None]] = []
        self._is_faulty = True

    def produce(self, topic: str, on_delivery: Callable[[None, None], None], **_: object) -> None:
        self._waiting.append(on_delivery)

    def poll(self, timeout_seconds: float) -> None:
        time.sleep(0.01)
        if self._waiting and self._is_faulty:
            self._is_faulty = False
            raise ZeroDivisionError
        while self._waiting:
            self._waiting.pop()(None, None)

    def flush(self, timeout_seconds: float) -> None:
        self.poll(timeout_seconds)


def test_a_bug_in_a_report_is_told_and_the_other_reports_come() -> None:
    watched = Watched(Faulty)
    assert watched.producer.send(RECORDS).result(WAIT_SECONDS) == [None] * len(RECORDS)
    assert "ZeroDivisionError" in (watched.producer.unusable() or "")
    watched.producer.close(0)


class Told:
    """A client whose brokers answer as a test says; connections fail when it says so."""

    def __init__(self, config: dict[str, Any]) -> None:
        self._fails = config["error_cb"]
        self._waiting: list[Callable[[KafkaError | None, Any], None]] = []
        self.answer: KafkaError | None = None
        self.partition: int | None = None

    def refuse_connection(self) -> None:
        self._fails(KafkaError(KafkaError._TRANSPORT, "broker-3: refused"))  # noqa: SLF001 - public

    def produce(
        self, topic: str, on_delivery: Callable[[KafkaError | None, Any], None], **_: object
    ) -> None:
        self._waiting.append(on_delivery)

    def poll(self, timeout_seconds: float) -> None:
        time.sleep(0.01)
        report = SimpleNamespace(partition=lambda: self.partition)
        while self._waiting:
            self._waiting.pop()(self.answer, report)

    def flush(self, timeout_seconds: float) -> None:
        self.poll(timeout_seconds)


def test_what_was_heard_before_a_record_got_through_is_no_reason_for_a_later_one() -> None:
    watched = Watched(Told)
    timed_out = KafkaError(KafkaError._MSG_TIMED_OUT)  # noqa: SLF001 - public name

    def said(answer: KafkaError | None) -> str:
        watched.client.answer = answer
        return str(watched.producer.send(RECORDS[:1]).result(WAIT_SECONDS)[0])

    watched.client.refuse_connection()
    assert "broker-3" in said(timed_out)
    assert said(None) == "None"
    assert "broker-3" not in said(timed_out)
    watched.producer.close(0)


@pytest.mark.parametrize("code", [KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC])  # noqa: SLF001 - public name
@pytest.mark.parametrize("partition", [None, 0])
def test_only_what_never_had_a_partition_was_surely_not_written(
    code: int, partition: int | None
) -> None:
    watched = Watched(Told)
    watched.client.answer, watched.client.partition = KafkaError(code), partition
    (outcome,) = watched.producer.send(RECORDS[:1]).result(WAIT_SECONDS)
    assert isinstance(outcome, Transient)
    assert isinstance(outcome, NoTopic) == (partition is None)
    watched.producer.close(0)


@pytest.mark.parametrize("timeout_seconds", [0.001, 86_400])
def test_a_client_can_name_unknown_topics_with_any_timeout(timeout_seconds: float) -> None:
    given = SETTINGS.model_copy(update={"producer_timeout_seconds": timeout_seconds})
    Producer(given.naming_unknown_topics(), "test").close(0)
