"""Topics are declared once the brokers are there, however late, and not for ever."""

from collections.abc import Callable

import pytest
from confluent_kafka import KafkaError

from services.backbone.clock import ManualClock
from services.backbone.errors import Refused, Transient
from services.backbone.kafka.client import trouble
from services.topics.__main__ import patiently


def away(times: int) -> Callable[[], list[str]]:
    """Return a declaration that works after so many failures."""
    left = iter([True] * times)

    def declare() -> list[str]:
        if next(left, False):
            raise Transient("the brokers are away")
        return ["trades"]

    return declare


def test_brokers_that_come_late_are_waited_for() -> None:
    assert patiently(away(59), 60.0, ManualClock()) == ["trades"]


def test_what_is_waited_for_is_told_when_it_changes(capsys: pytest.CaptureFixture[str]) -> None:
    few = KafkaError(KafkaError.INVALID_REPLICATION_FACTOR, "only 2 broker(s) are registered")
    said = iter([Transient("away"), Transient("away"), trouble(few)])

    def declare() -> list[str]:
        if error := next(said, None):
            raise error
        return ["trades"]

    assert patiently(declare, 60.0, ManualClock()) == ["trades"]
    assert capsys.readouterr().err.splitlines() == [
        "waiting for the brokers: away",
        "waiting for the brokers: Kafka: only 2 broker(s) are registered",
    ]


def test_patience_ends() -> None:
    with pytest.raises(Transient):
        patiently(away(1000), 60.0, ManualClock())


def test_without_patience_once_is_all() -> None:
    with pytest.raises(Transient):
        patiently(away(1), 0.0, ManualClock())


def test_a_refusal_is_not_repeated() -> None:
    asked = []

    def refused() -> list[str]:
        asked.append(1)
        raise Refused("no")

    with pytest.raises(Refused):
        patiently(refused, 60.0, ManualClock())
    assert len(asked) == 1
