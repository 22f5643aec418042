"""The faults of the matrix, each as the story of one cell.

A fault that a far end cannot play returns False.
"""

import signal
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

import psutil

from tests.integration.deliverer.waiting import until
from tests.matrix.crashing import Point
from tests.matrix.peer import Refusal
from tests.matrix.stage import SEND_TIMEOUT_SECONDS, Stage

Fault = Callable[[Stage], bool]


def none(stage: Stage) -> bool:
    """Nothing goes wrong; every delivery is told twice all the same."""
    stage.deliverer()
    stage.begin()
    return True


def killed_at(point: Point, stage: Stage) -> bool:
    """A deliverer ends itself at a point; another takes its place."""
    stage.begin()
    stage.gone(stage.deliverer(point))
    stage.deliverer()
    return True


def killed_half_way(stage: Stage) -> bool:
    """Some bytes of a request have left, not all of them, when the deliverer is killed."""
    passage = stage.peer.passage
    if passage is None:
        return False
    first = stage.deliverer()
    assert first.process is not None
    passage.cut(first.process.kill)
    stage.begin()
    stage.gone(first)
    taken = stage.taken()
    assert not all(taken.of(each.delivery_id) for each in stage.sent), "half a request was taken"
    stage.deliverer()
    return True


def killed_while_waiting(stage: Stage) -> bool:
    """The provider has everything and answers late; the deliverer is killed meanwhile."""
    if not stage.peer.dial(delay_seconds=60):
        return False
    stage.begin()
    first = stage.deliverer()
    stage.wait(stage.enough_taken, "taken")
    first.kill()
    stage.peer.dial(delay_seconds=0)
    stage.deliverer()
    return True


def no_answer(stage: Stage) -> bool:
    """The provider takes everything and closes the connection instead of answering."""
    if not stage.peer.dial(accept_then_drop_share=1):
        return False
    stage.begin()
    stage.deliverer()
    stage.wait(stage.enough_taken, "taken")
    stage.peer.dial(accept_then_drop_share=0)
    return True


def late_answer(stage: Stage) -> bool:
    """The provider takes everything and answers when nobody waits any more."""
    if not stage.peer.dial(delay_seconds=2 * SEND_TIMEOUT_SECONDS):
        return False
    stage.begin()
    stage.deliverer()
    stage.wait(stage.enough_taken, "taken")
    stage.peer.dial(delay_seconds=0)
    return True


def refused(kind: Refusal, stage: Stage) -> bool:
    """The provider refuses everything for a while, and keeps nothing of it."""
    words = stage.peer.refusals.get(kind)
    if words is None:
        return False
    stage.peer.dial(refuse_share=1, **words)
    stage.begin()
    stage.deliverer()
    tries = "SELECT DISTINCT delivery_id FROM attempts WHERE finished_at IS NOT NULL"
    stage.wait(lambda: len(stage.ledger.rows(tries)) > 0, "tried")
    if kind is Refusal.FOR_GOOD:
        stage.wait(stage.at_rest, "given up")
    stage.peer.dial(refuse_share=0)
    return True


def zombie(stage: Stage) -> bool:
    """A deliverer is stopped after its claim, for longer than its lease, and then goes on."""
    stage.begin()
    first = stage.deliverer(Point.PAUSED)
    assert first.process is not None
    paused = psutil.Process(first.process.pid)
    until(lambda: paused.status() == psutil.STATUS_STOPPED, "stopped itself")
    stage.deliverer()
    stage.wait(stage.at_rest, "at rest without the zombie")
    first.send_signal(signal.SIGCONT)
    until(
        lambda: len(first.logged("delivery_moved") + first.logged("delivery_had_moved_on")) > 0,
        "the zombie has seen that it was late",
    )
    return True


def two_owners(stage: Stage) -> bool:
    """Two deliverers work on the same rows at once."""
    stage.deliverer()
    stage.deliverer()
    stage.begin(count=40)
    return True


def store_down(stage: Stage) -> bool:
    """Postgres stops while sends are under way, and comes back."""
    delayed = stage.peer.dial(delay_seconds=1)
    stage.deliverer()
    stage.begin()
    if delayed:
        stage.wait(stage.enough_taken, "taken")
    stage.postgres.stop()
    stage.postgres.start()
    stage.peer.dial(delay_seconds=0)
    return True


FAULTS: Mapping[str, Fault] = {
    "none": none,
    "killed before the claim": partial(killed_at, Point.BEFORE_CLAIM),
    "killed after the claim": partial(killed_at, Point.AFTER_CLAIM),
    "killed before the first byte": partial(killed_at, Point.WINDOW_OPEN),
    "killed mid request": killed_half_way,
    "taken, killed before the answer": killed_while_waiting,
    "taken, connection closed": no_answer,
    "taken, answer too late": late_answer,
    "answered, killed before the record": partial(killed_at, Point.ANSWERED),
    "recorded, killed before the offset": partial(killed_at, Point.RECORDED),
    "paused beyond the lease, then woken": zombie,
    "two owners at once": two_owners,
    "Postgres stopped and started": store_down,
    "told to wait": partial(refused, Refusal.FOR_NOW),
    "server error": partial(refused, Refusal.IN_TROUBLE),
    "refused for good": partial(refused, Refusal.FOR_GOOD),
}
"""By the words that the report has for them."""
GIVEN_UP: Final = "refused for good"
"""The one fault after which a delivery has failed; a fallback would begin there."""
