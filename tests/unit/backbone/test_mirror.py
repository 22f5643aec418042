"""A mirror: which programs are one, and that it lets the other begin."""

import threading
from collections.abc import Sequence

import pytest

from services.backbone.clock import ManualClock
from services.backbone.kafka.consumer import Consumer, Incoming
from services.backbone.loop import ConsumerLoop
from services.backbone.mirror import (
    BEHIND_SECONDS,
    EACH_SECONDS,
    FURTHEST_SECONDS,
    Distance,
    LeftToTheOther,
    MirrorSettings,
)
from services.backbone.service import Life


class Stop(threading.Event):
    """Takes no time, and remembers for how long it was asked to wait."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float | None] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout)
        return self.is_set()


class OneBatch(Consumer):
    """Gives one record, then none."""

    def __init__(self) -> None:
        self.left = [Incoming("t", 0, 0, None, b"1", 0)]
        self.committed: list[Incoming] = []

    def batch(self, limit: int, timeout_seconds: float) -> list[Incoming]:
        batch, self.left = self.left, []
        return batch

    def commit(self, batch: Sequence[Incoming]) -> None:
        self.committed += batch


@pytest.mark.parametrize(("ordinal", "is_mirror"), [(0, False), (1, True), (2, False), (3, True)])
def test_every_second_program_is_a_mirror(ordinal: int, is_mirror: bool) -> None:
    settings = MirrorSettings(ordinal=ordinal)
    assert settings.is_mirror == is_mirror
    assert settings.behind_seconds(1) == (BEHIND_SECONDS if is_mirror else 0.0)


@pytest.mark.parametrize(("behind_seconds", "waits"), [(0.0, []), (0.5, [0.5])])
def test_a_batch_waits_for_what_the_other_does_with_it(
    behind_seconds: float, waits: list[float]
) -> None:
    stop, consumer, settled = Stop(), OneBatch(), list[list[float | None]]()

    def step(batch: Sequence[bytes]) -> None:
        assert batch == [b"1"]
        settled.append(list(stop.waits))
        stop.set()

    loop = ConsumerLoop(
        "test",
        consumer,
        LeftToTheOther(),
        bytes,
        step,
        Life(clock=ManualClock(), stop=stop),
        behind_seconds=lambda _: behind_seconds,
    )
    loop.run()
    assert settled == [waits]
    assert [each.value for each in consumer.committed] == [b"1"]


STORM = 500


def test_a_mirror_falls_back_where_both_do_the_same() -> None:
    distance = Distance()
    assert distance.behind_seconds(STORM) == BEHIND_SECONDS
    distance.found(100, done=0)
    distance.recorded(100, new=60)
    fallen_back = distance.behind_seconds(STORM)
    assert fallen_back == BEHIND_SECONDS + 100 * EACH_SECONDS
    distance.found(100, done=0)
    distance.recorded(100, new=60)
    assert distance.behind_seconds(STORM) > fallen_back
    for _ in range(10):
        distance.recorded(10_000, new=0)
    assert distance.behind_seconds(STORM) == BEHIND_SECONDS + FURTHEST_SECONDS


@pytest.mark.parametrize(("count", "done"), [(500, 500), (500, 475), (0, 0)])
def test_a_mirror_comes_nearer_while_things_are_done_before_it(count: int, done: int) -> None:
    distance = Distance()
    distance.recorded(STORM, new=0)
    far = [distance.behind_seconds(STORM)]
    for _ in range(20):
        distance.found(count, done)
        far.append(distance.behind_seconds(STORM))
    assert far == sorted(far, reverse=True)
    left = (count - done) * EACH_SECONDS
    assert far[-1] == pytest.approx(BEHIND_SECONDS + left, abs=1e-5)


def test_a_mirror_waits_for_no_lookout_that_does_nothing() -> None:
    distance = Distance()
    distance.recorded(STORM, new=0)
    distance.found(STORM, done=0)
    distance.recorded(STORM, new=STORM)
    assert distance.behind_seconds(STORM) == BEHIND_SECONDS


def test_after_a_storm_a_single_alert_waits_no_longer_than_a_moment() -> None:
    distance = Distance()
    distance.recorded(STORM, new=0)
    assert distance.behind_seconds(1) <= 0.02
