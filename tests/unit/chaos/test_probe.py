"""When latency counts as normal again, and what becomes of a probe that nobody accepts."""

import threading
from pathlib import Path

import pytest

from services.machine.problems import MachineProblem
from tests.chaos import probe
from tests.chaos.probe import (
    IN_A_ROW,
    STEADY_PROBES,
    STEADY_WINDOWS,
    Probe,
    Sample,
    normal_again_ms,
    quantile,
    steady,
)

LATE, GOOD = 900, (10,) * IN_A_ROW


def samples(*latencies_ms: int | None) -> list[Sample]:
    """Return one probe each 500 ms from 0 on."""
    return [Sample(500 * place, latency) for place, latency in enumerate(latencies_ms)]


def again(*latencies_ms: int | None, fault_ms: int = 0, mended_ms: int = 0) -> int | None:
    return normal_again_ms(samples(*latencies_ms), fault_ms, mended_ms, limit_ms=100)


def test_where_nothing_was_late_it_never_was_otherwise() -> None:
    assert again(100, *GOOD) == 0


def test_enough_in_a_row_are_needed() -> None:
    assert again(*GOOD[1:]) is None
    assert again(LATE, 10, 10, 101, *GOOD[1:]) is None
    assert again(LATE, 10, 10, 101, *GOOD) == 2000


def test_what_has_not_arrived_is_not_normal() -> None:
    assert again(10, None, *GOOD[1:]) is None
    assert again(None, *GOOD) == 500


def test_it_counts_from_the_fault_and_not_before_its_end() -> None:
    row = (LATE, *GOOD, 10, 10)
    assert again(*row, fault_ms=500) == 0
    assert again(10, *row, mended_ms=1500) == 1500
    assert again(10, *row, fault_ms=500, mended_ms=1500) == 1000


def test_what_was_under_way_when_the_fault_came_can_be_disturbed_by_it() -> None:
    assert again(600, *GOOD, fault_ms=400) == 100
    assert again(600, 10, *GOOD, fault_ms=700) == 0
    assert again(None, *GOOD, fault_ms=400) == 100


def test_a_baseline_is_steady_once_it_falls_no_more() -> None:
    cold, warm = [900] * 2 * STEADY_PROBES, [60] * STEADY_PROBES
    before = warm * (STEADY_WINDOWS - 1)
    assert not steady(before)
    assert not steady([*cold, *before])
    assert not steady([*before, *cold])
    assert steady([*cold, *before, *warm])
    assert steady([*before, *warm[1:], 900])
    assert steady([*before, *[89] * STEADY_PROBES])
    assert not steady([*before, *[90] * STEADY_PROBES])
    assert not steady([*[90] * STEADY_PROBES, *before])


def test_a_quantile_is_one_of_the_values() -> None:
    assert quantile([5], 0.95) == 5
    assert quantile(range(100), 0.95) == 95
    assert quantile([3, 1, 2], 0.5) == 2


def test_a_probe_that_nobody_accepts_ends_and_may_have_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "LAST_SECONDS", 0)
    tried, more = threading.Event(), threading.Event()

    def send(key: str) -> bool:
        if key == "p-0":
            return True
        (more if tried.is_set() else tried).set()
        return False

    one = Probe("p", send, "http://hook", tmp_path / "journal")
    assert more.wait(60)
    with pytest.raises(MachineProblem, match="nobody accepts a probe: p-1"):
        one.finish()
    assert one.accepted() == {"p-0"}
    assert "p-1" in one.unanswered()
