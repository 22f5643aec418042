"""The search for one bad record against a plain list of which records are bad."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.poison import STEP_RECORDS, STEPS_MAX, Range, search
from auditor.spared import Place, note_spared, read_spared
from services.backbone.errors import Refused


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


def test_search_ends() -> None:
    query = Query(set())
    assert search([Range("t", 0, 0, 10**12)], query.fails).guilty is None
    assert query.runs == STEPS_MAX


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
