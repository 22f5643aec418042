"""Which states lead to which, and what is remembered from one to another."""

import re
from collections.abc import Iterator
from itertools import pairwise, product
from typing import get_args

from pyspark.errors import PySparkException

from auditor import states
from auditor.states import Record, State, Stopped
from services.backbone.errors import Refused, Transient
from tests.unit.auditor.fakes import PATIENCE_SECONDS, Scene

TEXTS = ("gone", "SQLSTATE: 22012", "[STREAMING_REAL_TIME_MODE.X] no SQLSTATE: 0A000")
"""Of a failure that passes by itself, one with a remedy, and one that is a person's."""
ENDINGS = (None, Transient("brokers away"), Refused("no way"))
STARTS = (*ENDINGS, *(PySparkException(text) for text in TEXTS))


def documented() -> set[tuple[str, str]]:
    """Return the moves that the module's first lines tell of."""
    told = re.findall(r"(\w+) +-> (\w+)", states.__doc__ or "")
    lasting = [each.__name__ for each in get_args(State) if each is not Stopped]
    return {
        (one, after) for before, after in told for one in (lasting if before == "any" else [before])
    }


def course(text: str, start: Exception | None, ending: Exception | None) -> Iterator[State]:
    """Give the state after each look at a watch to which this comes, and then silence."""
    scene = Scene()
    scene.refusal, scene.remedies.error = start, ending
    for seconds in (0, 0, 9, 0, 0, 9, 61):
        yield scene.supervised.state
        scene.clock.move(seconds)
        scene.supervised.settles(PATIENCE_SECONDS)
        scene.supervised.look()
        if len(scene.queries) == 1 and scene.runs:
            scene.queries[-1].fail(text)
        scene.refusal = None
    yield scene.supervised.state


def test_one_state_leads_to_another_as_is_documented() -> None:
    courses = [list(course(*each)) for each in product(TEXTS, STARTS, ENDINGS)]
    steps = [step for each in courses for step in pairwise(each)]
    moves = {(type(one).__name__, type(after).__name__) for one, after in steps if one is not after}
    assert moves == documented()


def test_a_batch_ends_the_count_of_failures_and_what_was_told_of_them() -> None:
    failed = Record(has_worked=True, failing="gone").after_failure().after_failure()
    assert failed == Record(has_worked=True, failing="gone", without_batch=2)
    assert failed.after_batch(0) == Record(has_worked=True)


def test_a_batch_that_read_nothing_shows_nothing() -> None:
    assert [Record().after_batch(rows).has_worked for rows in (0, 1)] == [False, True]
