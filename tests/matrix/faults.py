"""The faults of the matrix, each as the story of one cell.

A fault returns what the far end lacks to play it, or None once it is played.
"""

import signal
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

import psutil

from tests.integration.deliverer.programs import DelivererProcess
from tests.integration.deliverer.waiting import until
from tests.matrix.crashing import Point
from tests.matrix.peer import Lack, Refusal
from tests.matrix.stage import SEND_TIMEOUT_SECONDS, Stage

Lacking = Lack | Refusal | None
Fault = Callable[[Stage], Lacking]


def none(stage: Stage) -> Lacking:
    """Nothing goes wrong; every delivery is told twice all the same."""
    stage.deliverer()
    stage.begin()
    return None


def killed_at(point: Point, stage: Stage) -> Lacking:
    """A deliverer ends itself at a point; another takes its place."""
    stage.begin()
    stage.gone(stage.deliverer(point))
    stage.deliverer()
    return None


def killed_half_way(stage: Stage) -> Lacking:
    """Some bytes of a request have left, not all of them, when the deliverer is killed."""
    passage = stage.peer.passage
    if passage is None:
        return Lack.HALF_WAY
    first = stage.deliverer()
    assert first.process is not None
    passage.cut(first.process.kill)
    stage.begin()
    stage.gone(first)
    taken = stage.taken()
    assert not all(taken.of(each.delivery_id) for each in stage.sent), "half a request was taken"
    stage.deliverer()
    return None


def killed_while_waiting(stage: Stage) -> Lacking:
    """The provider has everything and answers late; the deliverer is killed meanwhile."""
    if not stage.peer.dial(delay_seconds=60):
        return Lack.ANSWER
    stage.begin()
    first = stage.deliverer()
    stage.wait(stage.enough_taken, "taken")
    first.kill()
    stage.peer.dial(delay_seconds=0)
    stage.deliverer()
    return None


def no_answer(stage: Stage) -> Lacking:
    """The provider takes everything and closes the connection instead of answering."""
    if not stage.peer.dial(accept_then_drop_share=1):
        return Lack.ANSWER
    stage.begin()
    stage.deliverer()
    stage.wait(stage.enough_taken, "taken")
    stage.peer.dial(accept_then_drop_share=0)
    return None


def late_answer(stage: Stage) -> Lacking:
    """The provider takes everything and answers when nobody waits any more."""
    if not stage.peer.dial(delay_seconds=2 * SEND_TIMEOUT_SECONDS):
        return Lack.ANSWER
    stage.begin()
    stage.deliverer()
    stage.wait(stage.enough_taken, "taken")
    stage.peer.dial(delay_seconds=0)
    return None


def refused(kind: Refusal, stage: Stage) -> Lacking:
    """The provider refuses everything for a while, and keeps nothing of it."""
    words = stage.peer.refusals.get(kind)
    if words is None:
        return kind
    stage.peer.dial(refuse_share=1, **words)
    stage.begin()
    stage.deliverer()
    tries = "SELECT DISTINCT delivery_id FROM attempts WHERE finished_at IS NOT NULL"
    stage.wait(lambda: len(stage.ledger.rows(tries)) > 0, "tried")
    if kind is Refusal.FOR_GOOD:
        stage.wait(stage.at_rest, "given up")
    assert not any(stage.taken().marks.values()), "refused, and taken all the same"
    stage.peer.dial(refuse_share=0)
    return None


def stopped_at(point: Point, stage: Stage) -> DelivererProcess:
    """Start a deliverer and wait until it has stopped itself at a point."""
    one = stage.deliverer(point)
    assert one.process is not None
    paused = psutil.Process(one.process.pid)
    until(lambda: paused.status() == psutil.STATUS_STOPPED, "stopped itself")
    return one


def zombie(stage: Stage) -> Lacking:
    """A deliverer is stopped after its claim, for longer than its lease, and then goes on."""
    stage.begin()
    first = stopped_at(Point.PAUSED, stage)
    stage.deliverer()
    stage.wait(stage.at_rest, "at rest without the zombie")
    first.send_signal(signal.SIGCONT)
    until(
        lambda: len(first.logged("delivery_moved") + first.logged("delivery_had_moved_on")) > 0,
        "the zombie has seen that it was late",
    )
    return None


def two_owners(stage: Stage) -> Lacking:
    """Two deliverers work on the same rows at once."""
    stage.deliverer()
    stage.deliverer()
    stage.begin(count=40)
    return None


def store_down(stage: Stage) -> Lacking:
    """Postgres stops when a send is answered and not recorded, is missed, and comes back."""
    stage.begin()
    first = stopped_at(Point.UNRECORDED, stage)
    stage.postgres.stop()
    first.send_signal(signal.SIGCONT)
    stage.wait(lambda: first.page("/healthz/ready")[0] == 503, "misses Postgres")
    stage.postgres.start()
    return None


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
