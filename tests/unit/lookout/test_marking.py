"""Marks that are made later."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from services.backbone.clock import ManualClock
from services.backbone.errors import Transient
from services.backbone.service import Life
from services.lookout.outbox.marking import TOGETHER_LIMIT, WAITING_LIMIT, LaterMarks


@dataclass
class Outbox:
    """Takes marks, unless it is away."""

    away: bool = False
    marked: list[list[str]] = field(default_factory=list)

    def mark_published(self, delivery_ids: Sequence[str]) -> None:
        if self.away:
            raise Transient("away")
        self.marked.append(list(delivery_ids))


def marks_of(outbox: Outbox) -> LaterMarks:
    return LaterMarks(outbox, Life(clock=ManualClock()))


def test_marks_are_made_together() -> None:
    outbox = Outbox()
    marks = marks_of(outbox)
    marks.mark_published(["a"])
    marks.mark_published(["b", "c"])
    assert outbox.marked == []
    marks.turn()
    marks.turn()
    assert outbox.marked == [["a", "b", "c"]]


def test_very_many_are_marked_in_parts() -> None:
    outbox = Outbox()
    marks = marks_of(outbox)
    marks.mark_published([str(number) for number in range(TOGETHER_LIMIT + 1)])
    marks.turn()
    assert [len(part) for part in outbox.marked] == [TOGETHER_LIMIT, 1]


def test_what_cannot_be_marked_is_marked_later() -> None:
    outbox = Outbox(away=True)
    marks = marks_of(outbox)
    marks.mark_published(["a"])
    marks.turn()
    outbox.away = False
    marks.mark_published(["b"])
    marks.turn()
    assert [sorted(part) for part in outbox.marked] == [["a", "b"]]


def test_no_more_are_kept_than_fit() -> None:
    outbox = Outbox()
    marks = marks_of(outbox)
    marks.mark_published([str(number) for number in range(WAITING_LIMIT + 10)])
    marks.turn()
    assert sum(len(part) for part in outbox.marked) == WAITING_LIMIT


def test_what_is_left_is_marked_at_the_end() -> None:
    outbox = Outbox()
    life = Life(clock=ManualClock())
    marks = LaterMarks(outbox, life)
    life.stop.set()
    marks.start()
    marks.mark_published(["late"])
    marks.close(timeout_seconds=5.0)
    assert outbox.marked == [["late"]]
