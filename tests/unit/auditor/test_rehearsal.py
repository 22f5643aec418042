"""Which events a rehearsal reads, and what it makes of what was written."""

import bisect
from collections.abc import Mapping
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.queries.declared import Declared
from auditor.rehearsal.course import Bounds, Stage, follow, too_much
from auditor.rehearsal.findings import Found, compared, counts, written
from auditor.rehearsal.memory import MemoryQuery
from auditor.rehearsal.span import EXACT_MS, Reading, reading
from auditor.settings import AuditorSettings
from services.backbone.clock import ManualClock
from services.backbone.errors import Refused, Transient
from services.contracts.ids import alert_id
from services.contracts.records import Alert, Severity
from tests.unit.auditor.batches import HOUR_MS, STREAMS, WATCHES
from tests.unit.auditor.fakes import FakeQuery

Times = dict[tuple[str, int], list[int]]


def topic_times() -> st.SearchStrategy[Times]:
    """Return when the records of some partitions were appended, each partition in sequence."""
    times = st.lists(st.integers(0, 2 * HOUR_MS), max_size=60).map(sorted)
    places = st.tuples(st.sampled_from(["one", "two"]), st.integers(0, 2))
    return st.dictionaries(places, times, min_size=1, max_size=6)


def since(times: Times, at_ms: int) -> dict[str, dict[int, int]]:
    found: dict[str, dict[int, int]] = {}
    for (topic, number), appended in times.items():
        found.setdefault(topic, {})[number] = bisect.bisect_left(appended, at_ms)
    return found


@given(topic_times(), st.integers(0, 100))
def test_the_newest_records_are_read_cut_by_time_and_never_more(times: Times, limit: int) -> None:
    start, end = HOUR_MS // 2, 2 * HOUR_MS
    chosen = reading(lambda at_ms: since(times, at_ms), start, end, limit)
    within = sorted(at for each in times.values() for at in each if start <= at < end)
    assert chosen.wanted == len(within)
    assert chosen.records == sum(chosen.since_ms <= at for at in within) <= limit
    assert chosen.begins == since(times, chosen.since_ms)
    if len(within) <= limit:
        assert chosen.since_ms == start
    else:
        assert sum(chosen.since_ms - EXACT_MS <= at for at in within) > limit


def record(key: str, at_ms: int = 1, **more: object) -> Alert:
    given = {"auditor": "rehearsal", "detected_at_ms": 1, "summary": f"{key} at {at_ms}"} | more
    return Alert(
        alert_id=alert_id("w", [key]),
        watch="w",
        severity=Severity.INFO,
        key={"key": key},
        appended_at_ms=at_ms,
        **given,
    )


def texts(*found: Alert) -> list[str]:
    return [each.encode().decode() for each in found]


def found(*keys: str) -> Mapping[str, Found]:
    return written(texts(*(record(key) for key in keys)), until_ms=10).found


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 20)), max_size=30))
def test_an_alert_is_its_first_finding_within_the_span(rows: list[tuple[str, int]]) -> None:
    made = written(texts(*(record(key, at) for key, at in rows)), until_ms=10).found
    expected: dict[str, list[int]] = {}
    for key, at in rows:
        if at <= 10:
            expected.setdefault(key, []).append(at)
    assert {each.alert.key["key"]: (each.alert.appended_at_ms, each.times) for each in made.values()
            } == {key: (times[0], len(times)) for key, times in expected.items()}  # fmt: skip


@given(st.sets(st.sampled_from("abcdef")), st.sets(st.sampled_from("abcdef")))
def test_two_versions_are_compared_by_what_they_raise(new: set[str], live: set[str]) -> None:
    told = compared(found(*new), found(*live))
    by = {each.key["key"]: each.by for each in told}
    assert {key for key in by if by[key] == "new"} == new - live
    assert {key for key in by if by[key] == "live"} == live - new
    assert {key for key in by if by[key] == "both"} == new & live
    assert counts(told) == {
        "new": len(new - live), "live": len(live - new), "both": len(new & live)
    }  # fmt: skip
    assert [each.by == "both" for each in told] == sorted(each.by == "both" for each in told)


def test_findings_that_no_lookout_takes_are_counted() -> None:
    told = written(['{"alert_id": 1}', *texts(record("a")), "\x00"], until_ms=10)
    assert (len(told.found), told.unusable) == (1, 2)


def test_without_a_live_version_all_are_new() -> None:
    assert counts(compared(found("a", "b"), None)) == {"new": 2, "live": 0, "both": 0}


def test_a_version_is_stopped_at_its_bounds() -> None:
    bounds = Bounds(rows=10, seconds=5)
    assert too_much(bounds, 9, 5) == ""
    assert "10 findings" in too_much(bounds, 10, 0)
    assert "5 s" in too_much(bounds, 0, 5.1)


def followed(ended_with: str) -> None:
    """Follow a version whose query has ended so."""
    declared = Declared(WATCHES["over-purchase"], {"trades": STREAMS["trades"]})
    query = FakeQuery()
    query.fail(f"[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: {ended_with}")
    nothing = Reading(0, 0, {}, {}, 0)
    clock, bounds = ManualClock(), Bounds(10, 5)
    stage = Stage(cast(Any, None), AuditorSettings(), clock, nothing, bounds)
    follow(stage, declared, MemoryQuery(cast(Any, None), cast(Any, query), None), "folder")


@pytest.mark.parametrize(
    "lack",
    [
        "org.apache.kafka.common.errors.TimeoutException: Timeout expired",
        "Job aborted due to stage failure: java.io.IOException: No space left on device",
    ],
)
def test_brokers_and_disks_that_are_away_are_not_the_versions_fault(lack: str) -> None:
    with pytest.raises(Transient, match="could not be tried"):
        followed(lack)


def test_sql_that_fails_on_an_event_is_refused_whatever_the_event_says() -> None:
    with pytest.raises(Refused, match="CAST_INVALID_INPUT"):
        followed("[CAST_INVALID_INPUT] The value 'No space left on device' SQLSTATE: 22018")
