"""Rows that an event has shown to be bad stay refused, whatever else changes, and over restarts."""

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.queries.current import forget, keep, refusal, restore
from auditor.queries.declared import Declared
from auditor.queries.rules import Row
from services.contracts.watches import load_watch
from tests.unit.auditor.batches import EXAMPLE, STREAMS
from tests.unit.auditor.changing import OTHER, WATCH, World
from tests.unit.auditor.limited import CORRECTED, LIMITED, WHY, Limited

EXAMPLE_WATCH: Final = load_watch(EXAMPLE)
NUMBERS = st.integers(0, 2)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("run"), NUMBERS, NUMBERS),
        st.tuples(st.just("refuse"), NUMBERS, NUMBERS),
        st.tuples(st.just("forget"), NUMBERS, NUMBERS),
    ),
    max_size=12,
)


def numbered(rows: int, words: int = 0) -> Declared:
    table: tuple[Row, ...] = (("Ann", "ACME", rows),)
    watch = EXAMPLE_WATCH.model_copy(update={"rule": f"Words {words}."})
    return Declared(watch, {"trades": STREAMS["trades"]}, table)


@given(STEPS)
def test_rows_stay_refused_until_others_than_those_before_run(
    steps: list[tuple[str, int, int]],
) -> None:
    runs: int | None = None
    bad: int | None = None
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for what, rows, other in steps:
            match what:
                case "run":
                    runs, bad = rows, bad if rows == runs else None
                    keep(home, numbered(rows, words=other), worked=True)
                case "refuse" if rows != other:
                    runs, bad = rows, other
                    restore(home, numbered(rows), refused=numbered(other), reason=WHY)
                case "forget":
                    runs, bad = None, None
                    forget(home)
            for each in range(3):
                wanted = WHY if each == bad else None
                assert refusal(home, numbered(each, words=other)) == wanted


def test_another_rule_may_bear_the_rows(tmp_path: Path) -> None:
    restore(tmp_path, numbered(1), refused=numbered(0), reason=WHY)
    other = EXAMPLE_WATCH.model_copy(update={"sql": f"{EXAMPLE_WATCH.sql} AND sums.bought > 1"})
    assert refusal(tmp_path, numbered(0)) == WHY
    assert refusal(tmp_path, replace(numbered(0), watch=other)) is None


def test_a_note_of_before_refuses_no_rows(tmp_path: Path) -> None:
    keep(tmp_path, numbered(1), worked=True)
    note = tmp_path / "current.json"
    note.write_text(note.read_text().replace(',\n "refused": null', ""))
    assert "refused" not in note.read_text()
    assert refusal(tmp_path, numbered(0)) is None


@pytest.fixture
def limited(world: World) -> Limited:
    return Limited(world)


def test_refused_rows_stay_refused_when_another_file_changes(limited: Limited) -> None:
    limited.world.edit("severity: warning", "severity: info", OTHER)
    assert limited.world.queries(OTHER) == [False, True]
    limited.assert_refused()


def test_refused_rows_stay_refused_when_another_rule_takes_over(limited: Limited) -> None:
    world = limited.world
    world.edit("limit: 24 hours", "limit: 25 hours")
    world.catch_up()
    assert world.queries(WATCH) == [False, True]
    limited.assert_refused()


def test_refused_rows_stay_refused_when_words_come_with_them(limited: Limited) -> None:
    limited.world.edit("severity: warning", "severity: info", LIMITED)
    limited.assert_refused()


def test_refused_rows_stay_refused_over_a_restart(limited: Limited) -> None:
    assert limited.opens() == limited.before
    world = limited.world
    world.reload = world.reloading()
    world.turns(world.read())
    limited.assert_refused()
    assert limited.opens() == limited.before


def test_corrected_rows_are_taken_and_the_note_is_gone(limited: Limited) -> None:
    limited.write(CORRECTED)
    assert limited.world.reload.notes() is None
    assert limited.runs().rules[-1] == ("Bob", "ACME", 7)
    assert limited.opens() == limited.runs()


def test_corrected_rows_are_taken_that_came_while_nobody_ran(limited: Limited) -> None:
    limited.write_unseen(CORRECTED)
    assert limited.opens().rules[-1] == ("Bob", "ACME", 7)


def test_another_rule_takes_over_with_the_rows(limited: Limited) -> None:
    world = limited.world
    world.edit("sums.bought > rules.most_shares", "sums.bought * 2 > rules.most_shares", LIMITED)
    world.catch_up()
    assert world.reload.notes() is None
    assert limited.runs().rules[-1] == ("Bob", "ACME", 0)


def test_a_pause_forgets_what_was_refused(limited: Limited) -> None:
    world = limited.world
    world.edit("version: 1", "version: 1\npaused: true", LIMITED)
    world.edit("paused: true\n", "", LIMITED)
    assert world.reload.notes() is None
    assert limited.runs().rules[-1] == ("Bob", "ACME", 0)
