"""What is done for one watch takes its time on a thread of its own, within limits."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from auditor.batches.stagger import Phase
from auditor.checkpoints.ranges import Range
from auditor.fleet import Fleet, Running
from auditor.recovery.sieve import Sieve
from auditor.supervision import LEFT_SECONDS_MAX, REMEDY_SECONDS_MAX
from services.backbone.errors import Ended, Transient
from tests.unit.auditor.fakes import Scene

FAILS = "[CAST_INVALID_INPUT] The value 'x' SQLSTATE: 22018"


class Searched:
    """Two watches, of which one is searched for a record that it fails on."""

    def __init__(self) -> None:
        self.sick, self.well = Scene("sick"), Scene("well")
        self.fleet = Fleet()
        for scene in (self.sick, self.well):
            untouched: Any = None
            running = Running(untouched, untouched, scene.supervised, 1, Phase(30, 0))
            self.fleet.put(scene.supervised.watched.name, running)
        self.fleet.look()
        self.sick.remedies.may_end.clear()
        self.sick.queries[-1].fail(FAILS)
        self.look()

    def look(self, seconds: float = 0) -> None:
        for scene in (self.sick, self.well):
            scene.clock.move(seconds)
        self.fleet.look()


@pytest.fixture
def searched() -> Iterator[Searched]:
    made = Searched()
    yield made
    made.sick.remedies.may_end.set()


def test_other_watches_are_looked_after_meanwhile(searched: Searched) -> None:
    searched.well.queries[-1].fail("gone")
    searched.look()
    searched.look(9)
    assert [query.isActive for query in searched.well.queries] == [False, True]
    assert searched.sick.remedies.asked == ["spare"]
    assert not searched.sick.supervised.settles(0)


def test_the_watch_starts_again_when_the_search_is_over(searched: Searched) -> None:
    searched.look(9)
    assert len(searched.sick.queries) == 1
    searched.sick.remedies.may_end.set()
    searched.sick.settle()
    searched.look(9)
    assert searched.sick.runs


def test_a_watch_that_is_searched_is_not_ready_and_says_why(searched: Searched) -> None:
    assert searched.fleet.not_ready() == f"watch sick stands still: {FAILS}"
    searched.sick.remedies.may_end.set()
    searched.sick.settle()
    assert searched.fleet.not_ready() == f"watch sick stands still: {FAILS}"
    searched.look(9)
    searched.look()
    assert searched.fleet.not_ready() is None


def test_a_search_that_takes_too_long_is_broken_off_and_begun_again_later(
    searched: Searched,
) -> None:
    searched.look(REMEDY_SECONDS_MAX)
    assert not searched.sick.supervised.settles(0)
    searched.look(1)
    searched.sick.settle()
    assert searched.sick.supervised.stopped is None
    searched.look(9)
    assert searched.sick.runs


def test_a_search_that_cannot_be_broken_off_ends_the_program(searched: Searched) -> None:
    searched.sick.remedies.ends_when_broken_off = False
    searched.look(REMEDY_SECONDS_MAX + LEFT_SECONDS_MAX)
    with pytest.raises(Ended, match="watch sick"):
        searched.look(1)


def test_the_end_of_the_program_ends_the_search(searched: Searched) -> None:
    searched.fleet.stop()
    assert searched.sick.supervised.settles(0)
    assert not searched.well.runs


def test_a_search_that_is_broken_off_runs_nothing_more() -> None:
    broken_off = threading.Event()
    broken_off.set()
    untouched: Any = None
    with pytest.raises(Transient, match="broken off"):
        Sieve(untouched, broken_off).fails_as(untouched, Range("trades", 0, 0, 1))
