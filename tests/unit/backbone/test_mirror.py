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
    assert settings.behind_seconds() == (BEHIND_SECONDS if is_mirror else 0.0)


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
        behind_seconds=lambda: behind_seconds,
    )
    loop.run()
    assert settled == [waits]
    assert [each.value for each in consumer.committed] == [b"1"]


def test_a_mirror_falls_back_where_both_do_the_same() -> None:
    distance = Distance()
    assert distance.behind_seconds() == BEHIND_SECONDS
    distance.found(100, done=0)
    distance.did_the_same(100)
    fallen_back = distance.behind_seconds()
    assert fallen_back == BEHIND_SECONDS + 100 * EACH_SECONDS
    distance.found(100, done=40)
    assert distance.behind_seconds() > fallen_back
    for _ in range(10):
        distance.did_the_same(10_000)
    assert distance.behind_seconds() == BEHIND_SECONDS + FURTHEST_SECONDS


def test_a_mirror_comes_nearer_while_all_is_done_before_it() -> None:
    distance = Distance()
    distance.did_the_same(500)
    far = [distance.behind_seconds()]
    for _ in range(20):
        distance.found(500, done=500)
        far.append(distance.behind_seconds())
    assert far == sorted(far, reverse=True)
    assert far[-1] == pytest.approx(BEHIND_SECONDS, abs=1e-5)
    assert sum(far) - BEHIND_SECONDS * len(far) <= 2 * FURTHEST_SECONDS


def test_a_mirror_waits_for_no_lookout_that_does_nothing() -> None:
    distance = Distance()
    distance.did_the_same(500)
    distance.found(500, done=0)
    assert distance.behind_seconds() == BEHIND_SECONDS
