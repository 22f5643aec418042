"""When a changed rule has read what comes as it comes, however late its commits show that."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from math import floor
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.batches.boundaries import Boundaries
from auditor.batches.following import Batches
from auditor.batches.progress import Pulse
from auditor.batches.stagger import Phase
from auditor.changes import candidate as candidates
from auditor.changes.candidate import Candidate
from auditor.changes.catch_up import BEFORE_SECONDS, CatchUp
from auditor.checkpoints import offsets
from auditor.checkpoints.offsets import Offsets, behind
from auditor.checkpoints.ranges import Range
from auditor.cost import Cost
from auditor.fleet import Running
from auditor.job import Scene
from auditor.queries.declared import read_declarations
from auditor.settings import AuditorSettings
from auditor.supervision import Supervised, Watched
from services.backbone.clock import ManualClock
from services.backbone.errors import Transient
from services.contracts.streams import SHIPPED_STREAMS
from services.contracts.watches import SHIPPED_WATCHES
from tests.unit.auditor.fakes import FakeJobs, FakeQuery, FakeRemedies, failures

OFTEN = Phase(10.0, 0.0)
EACH_SECOND = 10
"""Events that come."""
LOOK_EVERY_SECONDS = 0.5


class World:
    """A query beside brokers to which events come all the time; each look takes half a second.

    It shows what it has read `lag_seconds` after it has stopped reading, as Spark does once state
    and log are committed.
    """

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        folder: Path,
        lag_seconds: float,
        speed: int,
        listed: Offsets = MappingProxyType({}),
    ) -> None:
        self._listed = listed
        self.clock, self.query = ManualClock(), FakeQuery()
        self._lag_seconds, self._speed = lag_seconds, speed
        self._began = self.now()
        self._length = self._next = 0.0
        self._read, self._notes = 0, list[str]()
        boundaries = Boundaries("w", OFTEN, self._set, self.clock)
        pulse = Pulse("w", 600, self.now())
        batches = Batches("w", boundaries, pulse, Cost(FakeJobs()), self.clock)
        watched = Watched("w", self._start, FakeRemedies())  # type: ignore[arg-type] # a fake query
        supervised = Supervised(watched, batches, failures(2), self.clock)
        declared = read_declarations(SHIPPED_STREAMS, SHIPPED_WATCHES).watches["over-purchase"]
        recipe: Any = SimpleNamespace(checkpoint=SimpleNamespace(location=lambda: "here"))
        settings = AuditorSettings(auditor_checkpoints=folder)
        scene = Scene(None, settings, self.clock)  # type: ignore[arg-type] # no Spark
        monkeypatch.setattr(candidates, "kept_offsets", lambda *_: ({}, self._newest()))
        ahead = SimpleNamespace(is_clear=no_record_is_missing)
        monkeypatch.setattr(candidates, "Ahead", lambda *_: ahead)
        monkeypatch.setattr(offsets, "names_in", lambda *_: map(str, range(len(self._notes))))
        monkeypatch.setattr(offsets, "text_of", lambda _, file: self._notes[int(Path(file).name)])
        self.candidate = Candidate(scene, Running(declared, recipe, supervised, 5, OFTEN))

    def now(self) -> float:
        return self.clock.now_ms() / 1000

    def looks(self, seconds: float) -> bool:
        """Look for so long, or until it has caught up; return whether it has."""
        for _ in range(round(seconds / LOOK_EVERY_SECONDS)):
            self.candidate.look()
            if self.candidate.caught_up:
                return True
            self.clock.move(LOOK_EVERY_SECONDS)
            if self.now() >= self._began + self._length + self._lag_seconds:
                self._commit()
        return False

    def behind(self) -> int:
        """Return how much it has not read that came before it last stopped reading."""
        return self._there(self._began - self._lag_seconds) - self._read

    def _start(self, batch_seconds: float) -> FakeQuery:
        self._began, self._length, self._next = self.now(), batch_seconds, batch_seconds
        return self.query

    def _set(self, _: object, seconds: float) -> None:
        self._next = seconds

    def _there(self, at_seconds: float) -> int:
        return 20_000 + int((at_seconds - 1_700_000_000) * EACH_SECOND)

    def _newest(self) -> Offsets:
        return {"trades": {0: self._there(self.now())}, **self._listed}

    def _commit(self) -> None:
        there = self._there(self._began + self._length)
        self._read = min(there, self._read + round(self._length * self._speed))
        self._notes.append("\n".join(["v1", "{}", json.dumps({"trades": {"0": self._read}})]))
        self.query.reports = [self._report(len(self._notes) - 1)]
        self._began, self._length = self.now(), self._next

    def _report(self, batch: int) -> Any:
        began = datetime.fromtimestamp(self._began, UTC).isoformat()
        return SimpleNamespace(
            batchId=batch,
            timestamp=began,
            batchDuration=round((self.now() - self._began) * 1000),
            numInputRows=1,
            observedMetrics={},
            stateOperators=[],
            sink=SimpleNamespace(numOutputRows=0),
            eventTime={},
            durationMs={},
        )


def no_record_is_missing(ranges: Sequence[Range]) -> bool:
    """Where each place is a record."""
    return not ranges


OFFSETS = st.dictionaries(
    st.sampled_from(["t", "h"]), st.dictionaries(st.integers(0, 2), st.integers(0, 9))
)


@given(OFFSETS, st.lists(OFFSETS, min_size=1), st.floats(0, 20))
def test_caught_up_is_what_was_there_before_it_stopped_reading(
    read: dict[str, dict[int, int]], samples: list[dict[str, dict[int, int]]], until: float
) -> None:
    catch_up = CatchUp(no_record_is_missing)
    for at_seconds, sample in enumerate(samples):
        catch_up.sample(sample, at_seconds)
    newest = samples[: max(0, floor(until - BEFORE_SECONDS) + 1)][-1:]
    assert catch_up.reached(read, until) == any(behind(read, one) == 0 for one in newest)


def test_what_is_behind_is_looked_at_once_for_each_batch() -> None:
    looks: list[list[Range]] = []

    def is_clear(ranges: Sequence[Range]) -> bool:
        looks.append(list(ranges))
        return len(looks) > 1

    catch_up = CatchUp(is_clear)
    catch_up.sample({"t": {0: 9, 1: 7, 2: 1}}, 0.0)
    told = [catch_up.reached({"t": {0: 5, 1: 7}}, until) for until in (4.0, 4.0, 14.0, 14.0)]
    assert told == [False, False, True, True]
    assert looks == [[Range("t", 0, 5, 9), Range("t", 2, 0, 1)]] * 2


def test_a_look_that_failed_is_done_again() -> None:
    answers = iter([Transient("away"), None])

    def is_clear(_: Sequence[Range]) -> bool:
        if (failure := next(answers)) is not None:
            raise failure
        return True

    catch_up = CatchUp(is_clear)
    catch_up.sample({"t": {0: 9}}, 0.0)
    with pytest.raises(Transient):
        catch_up.reached({"t": {0: 5}}, 4.0)
    assert catch_up.reached({"t": {0: 5}}, 4.0)


def test_topics_that_a_query_does_not_read_count_for_nothing() -> None:
    newest = {"read": {0: 5, 1: 7}, "listed": {0: 9}}
    assert behind({}, newest) == 21
    assert behind({"read": {0: 5}}, newest) == 7
    assert behind({"read": {0: 5, 1: 7}}, newest) == 0


def test_a_stream_that_is_only_listed_holds_no_changed_rule_up(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    world = World(monkeypatch, tmp_path, 0.5, speed=5_000, listed={"listed": {0: 9}})
    assert world.looks(1200)


@pytest.mark.parametrize("speed", [200, 5_000])
@pytest.mark.parametrize("lag_seconds", [0.0, 0.5, 3.0, 5.0, 30.0])
def test_it_catches_up_however_late_its_commits_show_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lag_seconds: float, speed: int
) -> None:
    world = World(monkeypatch, tmp_path, lag_seconds, speed)
    assert world.looks(1200)
    assert world.behind() <= 6 * EACH_SECOND


@pytest.mark.parametrize("lag_seconds", [0.5, 5.0])
def test_one_that_reads_no_faster_than_events_come_never_does(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lag_seconds: float
) -> None:
    world = World(monkeypatch, tmp_path, lag_seconds, speed=EACH_SECOND)
    assert not world.looks(600)


def test_one_that_has_failed_since_its_last_batch_waits_for_its_next(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    world = World(monkeypatch, tmp_path, 0.5, speed=5_000)
    assert world.looks(600)
    world.query.fail("gone")
    world.clock.move(1)
    world.candidate.look()
    assert not world.candidate.caught_up
    world.query = FakeQuery()
    assert world.looks(600)
    assert world.query.reports
