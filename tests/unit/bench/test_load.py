"""What the background load says of itself."""

import time

import pytest
from confluent_kafka import Producer

from tests.bench import load
from tests.bench.load import Schedule

NOBODY = "127.0.0.1:1"


class Taking:
    """A producer that takes everything at once."""

    def __init__(self, *_: object) -> None:
        pass

    def produce(self, *_: object) -> None:
        pass

    def poll(self, _: float) -> int:
        return 0

    def flush(self, _: float) -> int:
        return 0


def test_processor_time_is_of_the_time_that_it_lasted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "client", Taking)
    began, spent = time.monotonic(), time.process_time()
    said = load.offer(NOBODY, "trades", "r", 100, 0.05)
    assert said["cpu_seconds"] <= time.process_time() - spent
    assert 0.05 <= said["seconds"] <= time.monotonic() - began


def test_all_that_is_due_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "client", Taking)
    said = load.offer(NOBODY, "trades", "r", 100, 0.05)
    assert (said["sent"], said["failed"], said["unsent"]) == (5, 0, 0)


def test_what_no_broker_took_was_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    def impatient(settings: dict[str, object]) -> Producer:
        return Producer({**settings, "message.timeout.ms": 50, "log_level": 0})

    monkeypatch.setattr(load, "Producer", impatient)
    said = load.offer(NOBODY, "trades", "r", 100, 0.05)
    assert (said["sent"], said["failed"], said["unsent"]) == (0, 5, 0)


def test_a_burst_is_as_late_as_its_first_event() -> None:
    schedule = Schedule(rate=8)
    assert schedule.due(0.125) == 1
    schedule.done(1, 0.25)
    assert schedule.worst_lag_seconds == 0.125
    assert schedule.due(1.5) == 11  # nothing ran from then on
    schedule.done(11, 1.5)
    schedule.done(0, 9.0)
    assert (schedule.sent, schedule.worst_lag_seconds) == (12, 1.25)


def test_a_load_that_was_held_up_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    class HoldingUp(Taking):
        def poll(self, _: float) -> int:
            time.sleep(0.04)  # longer than events are apart: the next one is late by the rest
            return 0

    monkeypatch.setattr(load, "client", HoldingUp)
    assert load.offer(NOBODY, "trades", "r", 100, 0.1)["worst_lag_seconds"] >= 0.03
