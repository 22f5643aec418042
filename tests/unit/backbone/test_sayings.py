"""What the client library says stands in our log, each kind once in a while."""

import logging
from collections.abc import Callable

import pytest
from structlog.testing import capture_logs

from services.backbone.clock import ManualClock
from services.backbone.errors import Transient
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.lag import LagReader
from services.backbone.kafka.producer import Outgoing, Producer, ProducerSettings
from services.backbone.kafka.sayings import EVERY_SECONDS, Sayings
from services.machine.waiting import wait_until

AWAY = ProducerSettings(kafka_bootstrap_servers="127.0.0.1:9")
TEXT = "[thrd:kafka:9092/bootstrap]: kafka:9092/bootstrap: Connect failed: Connection refused"


def test_one_kind_is_told_once_in_a_while_and_what_was_left_out_is_counted() -> None:
    clock = ManualClock()
    sayings = Sayings(clock)
    with capture_logs() as told:
        for _ in range(3):
            sayings.log(logging.ERROR, "%s [%s] %s", "FAIL", "deliverer#consumer-1", TEXT)
        sayings.log(logging.ERROR, "%s [%s] %s", "MAXPOLL", "deliverer#consumer-1", TEXT)
        clock.move(EVERY_SECONDS)
        sayings.log(logging.ERROR, "%s [%s] %s", "FAIL", "deliverer#consumer-1", TEXT)
    assert [(each["kind"], each["left_out"]) for each in told] == [
        ("FAIL", 0),
        ("MAXPOLL", 0),
        ("FAIL", 2),
    ]
    assert told[0]["said"] == "Connect failed: Connection refused"


def test_a_real_client_says_nothing_beside_our_log(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with capture_logs() as told:
        producer = Producer(AWAY, "test")
        producer.send([Outgoing("t", "k", b"v")])
        wait_until(lambda: "FAIL" in [each.get("kind") for each in told], 60, "it is told")
        producer.close(0.0)
    assert "FAIL|" not in capfd.readouterr().err


@pytest.mark.parametrize(
    "made",
    [
        lambda: TopicAdmin(AWAY, "test", timeout_seconds=0.5).partitions,
        lambda: LagReader(AWAY, "test", lambda _: True).read,
    ],
    ids=["topics", "lag"],
)
def test_a_client_that_asks_says_nothing_beside_our_log_though_it_is_replaced(
    made: Callable[[], Callable[[], object]], capfd: pytest.CaptureFixture[str]
) -> None:
    ask = made()
    with capture_logs() as told:
        for _ in range(2):
            with pytest.raises(Transient):
                ask()
    failed = [each["left_out"] for each in told if each.get("kind") == "FAIL"]
    assert failed.count(0) == 1
    assert "FAIL|" not in capfd.readouterr().err
