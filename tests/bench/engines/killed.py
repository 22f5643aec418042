"""A pair of auditors of which one after the other is killed while it is measured."""

import math
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from services.machine.supervision.restarts import RestartPolicy
from services.machine.waiting import now_seconds, wait_until
from tests.bench.engine import Engine, Kill, Scene
from tests.bench.engines.auditors import (
    START_TIMEOUT_SECONDS,
    Auditor,
    Together,
    running,
    two_apart,
)
from tests.bench.kills import Planned, due_seconds, planned

RESTART_SECONDS = RestartPolicy().first_pause_seconds
"""How long the supervisor of `make run` lets pass before it starts again what was killed."""


@dataclass(frozen=True)
class Mortal(Together):
    """Auditors that `hand` kills, and starts again, in turn.

    The hand is one thread that outlives them: a program ends with the thread that started it.
    """

    hand: Executor

    @contextmanager
    def killing(self, seconds: float) -> Iterator[Sequence[Kill]]:
        """Kill and start again while the block lasts; behind it, all run."""
        kills: list[Kill] = []
        over = threading.Event()
        plan = planned(seconds, len(self.auditors))
        done = self.hand.submit(_kill_in_turn, self.auditors, plan, kills, over)
        try:
            yield kills
        finally:
            over.set()
        done.result()


@contextmanager
def pair(scene: Scene) -> Iterator[Engine]:
    """Run two auditors as the pair is, and which can be killed."""
    with ThreadPoolExecutor(1) as hand, running(scene, two_apart(scene)) as auditors:
        yield Mortal(auditors, hand)


def _kill_in_turn(
    auditors: Sequence[Auditor], plan: Sequence[Planned], kills: list[Kill], over: threading.Event
) -> None:
    """Follow the plan until it is over; never is one killed while another is not back."""
    begun, ready_seconds = now_seconds(), -math.inf
    for each in plan:
        due = begun + due_seconds(each, ready_seconds)
        if over.wait(max(0.0, due - now_seconds())):
            return
        auditor = auditors[each.part]
        kills.append(_killed(auditor))
        told = f"the killed auditor to be ready again; see {auditor.log_file}"
        wait_until(auditor.is_ready, START_TIMEOUT_SECONDS, told)
        ready_seconds = now_seconds() - begun


def _killed(auditor: Auditor) -> Kill:
    at_ns = auditor.kill()
    time.sleep(RESTART_SECONDS)
    auditor.start_again()
    return Kill(auditor.name, at_ns, time.monotonic_ns())
