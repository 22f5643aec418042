"""Whether a record or a table of rules is to blame, against a plain model of both."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.checkpoints.checkpoint import Checkpoint, fingerprint
from auditor.checkpoints.ranges import Range
from auditor.queries.current import (
    forget,
    keep,
    read_current,
    read_earlier,
    restore,
    worked_since_ms,
)
from auditor.queries.declared import Declared
from auditor.queries.rules import Row
from auditor.recovery.blame import RowsToBlame, changed, guilty_line, is_of_rows
from auditor.recovery.poison import Verdict, search
from auditor.recovery.probation import PROBATION_MS, Probation
from services.backbone.clock import ManualClock
from services.contracts.watches import load_watch
from tests.unit.auditor.batches import EXAMPLE, STREAMS

WATCH = load_watch(EXAMPLE)
OLD: tuple[Row, ...] = (("Ann", "ACME", 5),)
NEW: tuple[Row, ...] = (("Ann", "ACME", 5), ("Bob", "ACME", 0))
REASON = "[DIVIDE_BY_ZERO] SQLSTATE: 22012"


def declared(rows: tuple[Row, ...]) -> Declared:
    return Declared(WATCH, {"trades": STREAMS["trades"]}, rows)


@dataclass(frozen=True)
class Event:
    """One event; a bad one fails wherever it is joined, behind the join."""

    client: str
    is_bad: bool


def fails(event: Event, rows: tuple[Row, ...]) -> bool:
    """Divide by the limit of each row that the event joins."""
    return any(event.is_bad or limit == 0 for client, limit in rows if client == event.client)


clients = st.sampled_from("abcd")
tables = st.lists(st.tuples(clients, st.integers(0, 2)), max_size=8).map(tuple)
events = st.builds(Event, clients, st.booleans())


@given(st.lists(events, min_size=1, max_size=12), tables, tables)
def test_rows_are_to_blame_for_what_works_with_those_before(
    sent: list[Event], rows: tuple[Row, ...], earlier: tuple[Row, ...]
) -> None:
    def any_fails(part: Range) -> bool:
        return any(fails(event, rows) for event in sent[part.first : part.end])

    verdict = search([Range("t", 0, 0, len(sent))], any_fails)
    if verdict.place is None:
        assert not any(fails(event, rows) for event in sent)
        return
    guilty = sent[verdict.place.offset]
    assert is_of_rows(verdict, lambda: fails(guilty, earlier)) == (not fails(guilty, earlier))
    if not fails(guilty, earlier):
        line = guilty_line(changed(rows, earlier), lambda some: fails(guilty, some))
        assert line is not None
        assert fails(guilty, (rows[line - 2],))
        assert rows[line - 2] not in earlier


def test_rows_that_fail_only_together_have_no_line() -> None:
    both: tuple[Row, ...] = (("a", 1), ("a", 2))
    assert guilty_line(changed(both, ()), lambda some: len(some) == 2) is None
    assert guilty_line([], lambda _: True) is None


def test_nothing_is_said_of_rows_before_all_was_looked_at() -> None:
    assert not is_of_rows(Verdict(None, (Range("t", 0, 0, 1),)), lambda: False)
    assert is_of_rows(Verdict(None), lambda: True)


STEPS = st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=12)


@given(STEPS)
def test_the_last_rows_that_worked_are_kept_when_others_take_over(
    steps: list[tuple[int, bool]],
) -> None:
    tables = [declared(((f"client {number}", "ACME", number),)) for number in range(4)]
    runs: int | None = None
    last: int | None = None
    works, since_ms = False, 0
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for now_ms, (number, has_ended_batch) in enumerate(steps):
            if number != runs:
                last, works, since_ms = (runs if works else last), False, now_ms
            runs, works = number, works or has_ended_batch
            keep(home, tables[number], worked=has_ended_batch, now_ms=now_ms)
            known = None if last is None or last == runs else tables[last]
            assert read_earlier(home, tables[number]) == known
            assert read_current(home) == tables[number]
            assert worked_since_ms(home, tables[number]) == (since_ms if works else None)


def test_rows_that_were_refused_are_nothing_to_go_back_to(tmp_path: Path) -> None:
    keep(tmp_path, declared(OLD), worked=True)
    keep(tmp_path, declared(NEW), worked=True)
    restore(tmp_path, declared(OLD), refused=declared(NEW), reason=REASON)
    keep(tmp_path, declared(OLD), worked=False)
    assert read_earlier(tmp_path, declared(OLD)) is None
    assert read_earlier(tmp_path, declared(NEW)) == declared(OLD)


def test_another_rule_is_nothing_to_go_back_to(tmp_path: Path) -> None:
    keep(tmp_path, declared(OLD), worked=True)
    other = WATCH.model_copy(update={"sql": f"{WATCH.sql} AND sums.bought > 1"})
    assert read_earlier(tmp_path, replace(declared(NEW), watch=other)) is None
    forget(tmp_path)
    assert read_earlier(tmp_path, declared(NEW)) is None


class Heard:
    """A watch on probation, whose events fail as they are told to."""

    def __init__(self, home: Path) -> None:
        self.home, self.clock = home, ManualClock()
        self.bad_rows: tuple[Row, ...] = NEW[1:]
        checkpoint = Checkpoint("w", home, fingerprint(WATCH, STREAMS, 2))
        recipe: Any = SimpleNamespace(checkpoint=checkpoint, declared=declared(NEW))
        sieve: Any = SimpleNamespace(fails_as=self._fails)
        self._probation = Probation(recipe, sieve, self.clock)

    def _fails(self, one: Declared, _: Range) -> bool:
        return any(row in self.bad_rows for row in one.rules)

    def hear(self) -> None:
        self._probation.hear(Verdict(Range("trades", 1, 7, 8)), REASON)

    @contextmanager
    def blamed(self) -> Iterator[None]:
        with pytest.raises(RowsToBlame) as told:
            yield
        assert told.value.earlier == declared(OLD)
        assert "client-limits.csv, line 3: " in str(told.value)
        assert "record trades/1@7" in str(told.value)
        assert REASON in str(told.value)


def test_a_bad_row_is_told_with_its_line_and_the_record(tmp_path: Path) -> None:
    heard = Heard(tmp_path)
    keep(tmp_path, declared(OLD), worked=True)
    with heard.blamed():
        heard.hear()
    keep(tmp_path, declared(NEW), worked=False)
    with heard.blamed():
        heard.hear()


def test_a_record_that_fails_with_the_rows_before_is_no_fault_of_the_new(tmp_path: Path) -> None:
    heard = Heard(tmp_path)
    heard.bad_rows = NEW
    keep(tmp_path, declared(OLD), worked=True)
    heard.hear()


def test_rows_that_never_worked_are_nothing_to_hold_a_record_against(tmp_path: Path) -> None:
    heard = Heard(tmp_path)
    heard.hear()
    keep(tmp_path, declared(OLD), worked=False)
    heard.hear()


def test_rows_that_worked_for_long_are_not_refused_any_more(tmp_path: Path) -> None:
    heard = Heard(tmp_path)
    keep(tmp_path, declared(OLD), worked=True)
    keep(tmp_path, declared(NEW), now_ms=heard.clock.now_ms())
    heard.clock.move(PROBATION_MS / 1000)
    keep(tmp_path, declared(NEW), worked=True, now_ms=heard.clock.now_ms())
    with heard.blamed():
        heard.hear()
    heard.clock.move(1)
    heard.hear()
    words = replace(declared(NEW), watch=WATCH.model_copy(update={"rule": "Others."}))
    keep(tmp_path, words, now_ms=heard.clock.now_ms())
    heard.hear()


def test_rows_that_came_long_ago_and_read_nothing_are_still_refused(tmp_path: Path) -> None:
    heard = Heard(tmp_path)
    keep(tmp_path, declared(OLD), worked=True)
    keep(tmp_path, declared(NEW), now_ms=heard.clock.now_ms())
    heard.clock.move(10 * PROBATION_MS / 1000)
    with heard.blamed():
        heard.hear()
