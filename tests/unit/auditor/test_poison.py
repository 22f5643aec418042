"""The search for one bad record against a plain list of which records are bad."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.checkpoints.ranges import Range
from auditor.checkpoints.spared import Place, note_spared, read_spared
from auditor.recovery.poison import STEP_RECORDS, STEPS_MAX, behind, good, interleaved, search
from services.backbone.errors import Refused, Transient
from tests.unit.auditor.failing import BY_A_PERSON, PASSING, fail


class Query:
    """Fails on these records alone, and counts how often it was run."""

    def __init__(self, bad: set[Place]) -> None:
        self._bad = bad
        self.runs = 0

    def fails(self, part: Range) -> bool:
        self.runs += 1
        return any(
            (one.topic, one.partition) == (part.topic, part.partition)
            and part.first <= one.offset < part.end
            for one in self._bad
        )


@st.composite
def topics(draw: st.DrawFn) -> tuple[list[Range], set[Place]]:
    firsts = draw(st.lists(st.integers(0, 10**9), min_size=1, max_size=4))
    ranges = [
        Range("t", number, first, first + draw(st.integers(0, 3 * STEP_RECORDS)))
        for number, first in enumerate(firsts)
    ]
    full = [one for one in ranges if len(one)]
    bad = {
        Place(one.topic, one.partition, draw(st.integers(one.first, one.end - 1)))
        for one in draw(st.lists(st.sampled_from(full), max_size=5) if full else st.just([]))
    }
    return ranges, bad


@given(topics())
def test_finds_a_bad_record_if_there_is_one(case: tuple[list[Range], set[Place]]) -> None:
    ranges, bad = case
    query = Query(bad)
    found = search(ranges, query.fails).place
    assert found in bad if bad else found is None
    assert query.runs <= 4 * 3 + 2 * 17


@given(st.integers(2, 50), st.data())
def test_records_that_are_bad_only_together_have_no_culprit(size: int, data: st.DataObject) -> None:
    one, other = sorted(data.draw(st.sets(st.integers(0, size - 1), min_size=2, max_size=2)))
    part = Range("t", 0, 0, size)
    verdict = search([part], lambda half: half.first <= one and other < half.end)
    assert verdict.place is None
    assert verdict.guilty is not None
    assert verdict.guilty.first <= one < other < verdict.guilty.end


def dealt(ranges: list[Range]) -> list[Range]:
    """The model: each in its turn takes the first step of what it has left, until none has any."""
    left, steps = list(ranges), []
    while any(len(one) for one in left):
        for number, one in enumerate(left):
            if len(one):
                steps.append(replace(one, end=min(one.end, one.first + STEP_RECORDS)))
                left[number] = replace(one, first=steps[-1].end)
    return steps


@given(topics())
def test_steps_are_taken_in_turn(case: tuple[list[Range], set[Place]]) -> None:
    ranges, _ = case
    assert list(interleaved(ranges)) == dealt(ranges)


def test_a_record_at_the_front_of_any_partition_is_found() -> None:
    many = [Range("t", number, 0, 10**9) for number in range(2 * STEPS_MAX)]
    for number in (0, 1, 2 * STEPS_MAX - 1):
        place = Place("t", number, STEP_RECORDS - 1)
        assert search(many, Query({place}).fails).place == place


def test_search_ends_and_says_what_it_has_not_looked_at() -> None:
    query = Query(set())
    verdict = search([Range("t", 0, 0, 10**12), Range("t", 1, 7, 9)], query.fails)
    assert verdict.guilty is None
    assert query.runs == STEPS_MAX
    assert verdict.unseen == (Range("t", 0, (STEPS_MAX - 1) * STEP_RECORDS, 10**12),)


@given(topics())
def test_what_was_looked_at_to_the_end_is_no_more_to_see(
    case: tuple[list[Range], set[Place]],
) -> None:
    ranges, bad = case
    assert search(ranges, Query(bad).fails).unseen == ()


ends = st.tuples(st.integers(0, 12), st.integers(0, 12))
spans = ends.map(lambda both: (min(both), max(both)))


@given(st.lists(st.tuples(spans, st.integers(0, 12)), max_size=4), st.lists(spans, max_size=4))
def test_a_search_goes_on_where_the_last_one_ended(
    before: list[tuple[tuple[int, int], int]], now: list[tuple[int, int]]
) -> None:
    """Only what was looked at is left out, whatever is committed or deleted between searches."""
    ranges = [Range("t", number, *span) for number, (span, _) in enumerate(before)]
    unseen = [
        replace(one, first=min(max(cut, one.first), one.end))
        for one, (_, cut) in zip(ranges, before, strict=True)
    ]
    left = [one for one in unseen if len(one)]
    looked = records(ranges) - records(left)
    later = [Range("t", number, *span) for number, span in enumerate(now)]
    kept = records(behind(later, good(ranges, left)))
    assert records(later) - looked <= kept <= records(later)
    if [one.first for one in later] == [one.first for one in ranges]:
        assert kept == records(later) - looked


def records(ranges: Iterable[Range]) -> set[tuple[int, int]]:
    return {(one.partition, offset) for one in ranges for offset in range(one.first, one.end)}


def test_searches_one_after_the_other_find_what_lies_far_back() -> None:
    ranges, place = [Range("t", 0, 0, 10**8)], Place("t", 0, 12_345_678)
    query = Query({place})
    found_good: tuple[Range, ...] = ()
    for _ in range(place.offset // (STEPS_MAX * STEP_RECORDS)):
        verdict = search(behind(ranges, found_good), query.fails)
        assert verdict.guilty is None
        found_good = good(ranges, verdict.unseen)
    assert search(behind(ranges, found_good), query.fails).place == place


def test_spared_places_are_kept(tmp_path: Path) -> None:
    assert read_spared(tmp_path) == ()
    places = (Place("t", 0, 7), Place("t.heartbeat", 1, 10**12))
    note_spared(tmp_path, places)
    assert read_spared(tmp_path) == places


@pytest.mark.parametrize("text", ["{", '{"a": 1}', "[1]", '[{"topic": "t"}]'])
def test_note_that_cannot_be_read_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "spared.json").write_text(text)
    with pytest.raises(Refused, match="move it away"):
        read_spared(tmp_path)


@pytest.mark.parametrize("number", [*PASSING, *BY_A_PERSON])
def test_note_that_cannot_be_read_just_now_is_told_by_what_mends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    note_spared(tmp_path, [Place("t", 0, 7)])
    fail(monkeypatch, "read_text", "spared.json", number)
    with pytest.raises(Refused if number in BY_A_PERSON else Transient, match="cannot be read"):
        read_spared(tmp_path)


def test_a_search_without_time_takes_one_step_and_goes_on_with_what_was_looked_at_least() -> None:
    ranges = [Range("t", number, 5, 5 + 2 * STEP_RECORDS) for number in range(3)]
    bad = Place("t", 2, 5 + STEP_RECORDS)
    query = Query({bad})
    found_good: tuple[Range, ...] = ()
    for _ in range(5):
        verdict = search(behind(ranges, found_good), query.fails, lambda: False)
        assert verdict.guilty is None
        found_good = good(ranges, verdict.unseen)
    assert query.runs == 5
    assert search(behind(ranges, found_good), query.fails, lambda: False).place == bad
