"""The pace as arithmetic, and whole runs against a slow target, by a clock moved by hand."""

import math
from collections.abc import Iterator, Sequence
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.backbone.clock import ManualClock
from services.backbone.errors import Transient
from services.backbone.service import Life
from services.simulator.course import Course
from services.simulator.dials import Dials, Shape
from services.simulator.history import Message, history
from services.simulator.pace import Pace
from services.simulator.sending import Settled
from services.simulator.tally import Outcome, Tally


@given(st.floats(0.1, 100_000), st.integers(0, 100_000))
def test_each_message_is_due_at_its_intended_time(rate: float, number: int) -> None:
    pace = Pace(rate)
    intended = pace.intended_seconds(number, 0)
    assert pace.due(intended, number) >= 1
    assert pace.due(intended - 0.5 / rate, number) == 0


def test_an_unpaced_run_is_never_late() -> None:
    pace = Pace(math.inf)
    assert pace.due(5.0, 1000) > 10_000
    assert pace.intended_seconds(1000, 5.0) == 5.0


class SlowTarget:
    """Takes `room` batches at a time and answers them when asked for the `patience`-th time."""

    def __init__(self, room: int, patience: float) -> None:
        self._room = room
        self._patience = patience
        self._asked = count()
        self._open: list[tuple[int, Sequence[Message]]] = []
        self.sizes: list[int] = []

    def start(self, batch: Sequence[Message]) -> bool:
        if len(self._open) >= self._room:
            return False
        self.sizes.append(len(batch))
        self._open.append((next(self._asked), batch))
        return True

    def collect(self) -> Iterator[Settled]:
        now = next(self._asked)
        ripe = [batch for at, batch in self._open if now - at >= self._patience]
        self._open = [(at, batch) for at, batch in self._open if now - at < self._patience]
        yield from (Settled(batch, [Outcome.ACCEPTED] * len(batch)) for batch in ripe)

    def retried(self) -> int:
        return 0

    def waiting(self) -> int:
        return len(self._open)

    def close(self) -> list[Settled]:
        return [Settled(batch, [Outcome.UNKNOWN] * len(batch)) for _, batch in self._open]


def course(target: SlowTarget, dials: Dials) -> Course:
    life = Life(clock=ManualClock())
    messages = history(Shape(), "run", dials.orders)
    return Course(dials, life, target, Tally(10), messages, answer_timeout_seconds=5)


def test_a_quick_target_gets_one_message_a_second_on_time() -> None:
    run = course(SlowTarget(room=1, patience=1), Dials(events=10))
    run.go()
    assert run.sent == sum(run.tally.outcomes[Outcome.ACCEPTED]) == 10
    assert 9 <= run.elapsed_seconds() < 10
    assert run.lag_seconds_max < 0.01


def test_slow_answers_show_as_lag_and_then_as_larger_batches() -> None:
    target = SlowTarget(room=1, patience=200)
    run = course(target, Dials(events=500, rate=100, batch=50))
    run.go()
    assert sum(run.tally.outcomes[Outcome.ACCEPTED]) == 500
    assert run.lag_seconds_max > 0.1
    assert max(target.sizes) > 1


def test_answers_that_never_come_end_the_run_as_an_error() -> None:
    run = course(SlowTarget(room=5, patience=math.inf), Dials(events=5, batch=1))
    with pytest.raises(Transient, match="5 messages are without an answer"):
        run.go()
    assert sum(run.tally.outcomes[Outcome.UNKNOWN]) == 5


def test_a_quiet_target_makes_the_program_not_ready() -> None:
    run = course(SlowTarget(room=5, patience=math.inf), Dials(events=1))
    assert run.quiet() is None
    with pytest.raises(Transient):
        run.go()
    assert run.quiet() is not None
    assert run.stuck() is None


def test_the_run_ends_with_its_orders_or_its_seconds() -> None:
    run = course(SlowTarget(room=1, patience=0), Dials(orders=3, rate=1000))
    run.go()
    assert run.sent == 15
    run = course(SlowTarget(room=1, patience=0), Dials(seconds=2.5))
    run.go()
    assert run.sent == 3
