"""`watch try` tells what a check tells of the auditors' slots, beside what was raised."""

import io
from typing import Any

import pytest

from services.aldebaran.__main__ import parser
from services.aldebaran.rehearsals import try_watch
from services.backbone.clock import ManualClock
from services.backbone.errors import Transient
from services.contracts.rehearsals import Answer, Course, Looked
from tests.unit.servers import WATCH_FILE

NO_ROOM = "needs 5 slots and does not fit: 15 slots are needed at once"


class Api:
    """Answers that the rehearsal is done."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def ask(self, method: str, *_: object, **__: object) -> dict[str, Any]:
        if method == "POST":
            return {"rehearsal_id": "r"}
        answer = self._answer.model_dump(mode="json")
        return {"state": "DONE", "changed": [], "answer": answer}


class AwayFor(Api):
    """Does not answer the first looks."""

    def __init__(self, answer: Answer, looks: int) -> None:
        super().__init__(answer)
        self._looks = looks

    def ask(self, method: str, *_: object, **__: object) -> dict[str, Any]:
        if method == "GET" and self._looks:
            self._looks -= 1
            raise Transient("no console answers")
        return super().ask(method)


@pytest.mark.parametrize(("looks", "is_told"), [(10, True), (30, False)])
def test_a_console_that_is_away_is_asked_again_until_the_wait_is_over(
    looks: int, is_told: bool
) -> None:
    api: Any = AwayFor(Answer(watch="w", refused="no such stream"), looks)
    chosen = parser().parse_args(["watch", "try", str(WATCH_FILE), "--wait", "20"])
    out = io.StringIO()
    if is_told:
        assert try_watch(chosen, api, ManualClock(), out) == 1
        assert out.getvalue() == "no such stream\n"
    else:
        with pytest.raises(Transient, match="no console answers"):
            try_watch(chosen, api, ManualClock(), out)


@pytest.mark.parametrize("told", [NO_ROOM, "needs 5 slots and fits: w 5, of 16"])
def test_slots_are_told_and_decide_nothing(told: str) -> None:
    course = Course(alerts=2, rows=2, malformed=0, seconds=1.0)
    looked = Looked(since_ms=1, until_ms=2, events=7, wanted=7)
    api: Any = Api(Answer(watch="w", room=told, looked=looked, new=course))
    chosen = parser().parse_args(["watch", "try", str(WATCH_FILE)])
    out = io.StringIO()
    assert try_watch(chosen, api, ManualClock(), out) == 0
    assert out.getvalue().splitlines() == [told, "7 events: it would have raised 2 alerts"]
