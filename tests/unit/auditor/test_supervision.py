"""When a failed watch is started again, and when its silence counts as death."""

import random

from auditor.progress import Progress, Pulse
from engine.restarts import Failures, RestartLimit
from services.backbone.backoff import Backoff


def batch(number: int) -> Progress:
    return Progress(number, 0, 0, 0, 0, 0, 0, 0.0, 0.0, 0)


def failures(most: int) -> Failures:
    limit = RestartLimit(most, 600, Backoff(first_seconds=1, limit_seconds=8))
    return Failures(limit, random.Random(1))


def test_waits_grow_and_then_it_gives_up() -> None:
    watched = failures(4)
    waits = [watched.next_wait_seconds(now) for now in (0, 10, 20, 30)]
    for wait, whole in zip(waits, (1, 2, 4, 8), strict=True):
        assert wait is not None
        assert whole / 2 <= wait <= whole
    assert watched.next_wait_seconds(40) is None


def test_old_failures_are_forgotten() -> None:
    watched = failures(1)
    for now in (0, 601, 1202, 1803):
        wait = watched.next_wait_seconds(now)
        assert wait is not None
        assert wait <= 1


def test_no_restart_allowed() -> None:
    assert failures(0).next_wait_seconds(0) is None


def test_pulse_counts_each_batch_once() -> None:
    pulse = Pulse("w", 60, 0)
    assert pulse.take([batch(3), batch(4)], True, 10) == [batch(3), batch(4)]
    assert pulse.take([batch(3), batch(4), batch(5)], True, 20) == [batch(5)]
    assert pulse.take([batch(5)], True, 30) == []
    assert pulse.age_seconds(30) == 10


def test_silence_is_death_only_after_the_limit() -> None:
    pulse = Pulse("w", 60, 0)
    assert pulse.dead(60) is None
    assert pulse.dead(61) == "watch w: no batch for 61 s, limit 60 s"
    pulse.take([batch(0)], True, 61)
    assert pulse.dead(121) is None


def test_ready_from_the_first_batch_until_the_next_start() -> None:
    pulse = Pulse("w", 60, 0)
    assert pulse.not_ready() == "watch w: its first batch has not started"
    pulse.take([], True, 1)
    pulse.take([], False, 2)
    assert pulse.not_ready() is None
    pulse.started(3)
    assert pulse.not_ready() is not None


def test_restart_counts_batches_again_and_gives_new_time() -> None:
    pulse = Pulse("w", 60, 0)
    pulse.take([batch(7)], True, 10)
    pulse.started(100)
    assert pulse.dead(150) is None
    assert pulse.take([batch(7)], True, 150) == [batch(7)]
