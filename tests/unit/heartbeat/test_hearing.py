"""When a reader that began at the end counts as hearing nothing."""

from unittest.mock import Mock, create_autospec

from hypothesis import given, settings
from hypothesis import strategies as st

from services.backbone.clock import ManualClock
from services.backbone.errors import Transient
from services.backbone.kafka.consumer import Consumer
from services.heartbeat.hearing import Hearing

LIMIT_SECONDS = 30.0
PLACE = ("alerts", 0)
NOT_BEGUN = -1001


class Scene:
    """A reader of one partition that holds what was there before; time moves by turns."""

    def __init__(self, end: int = 5) -> None:
        self.clock = ManualClock()
        self.consumer: Mock = create_autospec(Consumer, instance=True)
        self.consumer.batch.return_value = []
        self.consumer.given.return_value = 0
        self.consumer.unread.return_value = {}
        self.consumer.asking_seconds.return_value = 1e6
        self.consumer.times_assigned.return_value = 1
        self.stands(NOT_BEGUN, end)
        self.hearing = Hearing(self.consumer, self.clock, LIMIT_SECONDS)

    def stands(self, position: int, end: int) -> None:
        self.consumer.positions.return_value = {PLACE: position}
        self.consumer.ends.return_value = {PLACE: end} if end else {}

    def turns(self, seconds: int) -> None:
        for _ in range(seconds):
            self.hearing.batch(10, 0.0)
            self.clock.move(1.0)

    def is_replaced(self) -> bool:
        return bool(self.consumer.begin_anew.called)


def test_what_was_there_before_is_not_missed() -> None:
    scene = Scene()
    scene.turns(500)
    assert not scene.is_replaced()
    assert scene.hearing.trouble() is None


def test_what_came_since_and_is_not_heard_is_told_and_then_fetched_by_a_new_client() -> None:
    scene = Scene(end=0)
    scene.turns(25)
    scene.stands(NOT_BEGUN, 1)
    scene.turns(30)
    assert scene.hearing.trouble() is None
    scene.turns(15)
    assert "reads nothing of what came" in str(scene.hearing.trouble())
    assert not scene.is_replaced()
    scene.turns(40)
    scene.consumer.begin_anew.assert_called_once()
    assert scene.hearing.trouble() is None


def test_whoever_hears_anything_has_begun() -> None:
    scene = Scene()
    scene.turns(25)
    scene.stands(NOT_BEGUN, 6)
    scene.turns(50)
    scene.stands(6, 6)
    scene.turns(10)
    assert scene.hearing.trouble() is None
    scene.turns(500)
    assert not scene.is_replaced()


def test_a_partition_that_is_given_again_begins_anew() -> None:
    scene = Scene()
    scene.turns(25)
    for times in range(2, 20):
        scene.consumer.times_assigned.return_value = times
        scene.stands(NOT_BEGUN, times * 10)
        scene.turns(50)
    assert not scene.is_replaced()


def test_brokers_that_do_not_answer_are_no_reason_for_a_new_client() -> None:
    scene = Scene()
    scene.turns(25)
    scene.consumer.ends.side_effect = Transient("no answer")
    scene.turns(500)
    assert not scene.is_replaced()


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 3)), max_size=30))
@settings(deadline=None)
def test_whoever_hears_what_comes_is_never_in_trouble(steps: list[tuple[int, int]]) -> None:
    scene, end, position = Scene(), 5, NOT_BEGUN
    for seconds, come in steps:
        scene.turns(seconds)
        if come:
            end += come
            position = end
        scene.stands(position, end)
        scene.hearing.batch(10, 0.0)
        assert scene.hearing.trouble() is None
    assert not scene.is_replaced()
