"""A visit's arithmetic, with load and probes that are made up."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import psutil
import pytest

from tests.bench import latency
from tests.bench.engine import Kill, Scene, Usage
from tests.bench.latency import Pace, between, inside_run, slow_share, visit
from tests.bench.probe import Found
from tests.bench.stores import Broker

SECOND = 10**9
FOUND = Found(
    intended_ns={0: 0, 1: 2 * SECOND, 2: 4 * SECOND},
    alert_ns={0: 5, 1: 3 * SECOND},
    echo_ns={0: 1, 1: 2 * SECOND + 1, 2: 4 * SECOND + 1},
    again=1,
)


class MadeUp:
    """An engine that used 6 s of processor time by its second answer."""

    def __init__(self) -> None:
        self.asked = 0

    def usage(self) -> Usage:
        self.asked += 1
        return Usage(6.0 * (self.asked - 1), 700)

    def boundaries_ns(self) -> list[int]:
        return [2 * SECOND + SECOND // 2, 9 * SECOND]

    def killing(self, seconds: float) -> AbstractContextManager[Sequence[Kill]]:
        assert seconds == 0.9
        return nullcontext([Kill("a", -SECOND, SECOND)])


@contextmanager
def started(_: Scene) -> Iterator[MadeUp]:
    yield MadeUp()


class NoMarkers:
    def __init__(self, *_: object) -> None:
        pass

    def __enter__(self) -> "NoMarkers":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def wait(self, *_: object) -> None:
        pass


class MadeUpProber:
    def __init__(self, *_: object) -> None:
        pass

    def measure(self) -> Found:
        return FOUND


def load(*_: object) -> "subprocess.Popen[str]":
    counts = {"sent": 10, "unsent": 0, "worst_lag_seconds": 0.1}
    said = json.dumps({**counts, "seconds": 5.0, "cpu_seconds": 0.5})
    command = [sys.executable, "-c", f"print({said!r})"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_visit_makes_a_row_per_rate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(latency, "Markers", NoMarkers)
    monkeypatch.setattr(latency, "Prober", MadeUpProber)
    monkeypatch.setattr(latency, "_start_load", load)
    monkeypatch.setattr(latency, "write_markers", lambda *_: None)
    monkeypatch.setattr(latency, "SETTLE_SECONDS", 0.1)
    broker = Broker("127.0.0.1:1", psutil.Process(), tmp_path)
    pace = Pace((1000, 5000), 0.9, 0.1, 100)
    rows = visit("made-up", 1, started, Scene("127.0.0.1:1", tmp_path), broker, pace)
    assert [(row.engine, row.visit, row.rate) for row in rows] == [
        ("made-up", 1, 1000),
        ("made-up", 1, 5000),
    ]
    row = rows[0]
    assert (row.probes, row.missing, row.again, row.strange, row.boundaries) == (3, 1, 1, 0, 1)
    assert (row.alert.max_ms, row.between_boundaries.count, row.echo.count) == (1000.0, 1, 3)
    assert row.kills is not None
    assert {each: beside.alert.count for each, beside in row.kills.stages.items()} == {
        "dead": 1,
        "alone at a boundary": 1,
    }
    assert row.cores["load"] == 0.1
    assert row.load == {"sent": 10, "unsent": 0, "worst_lag_seconds": 0.1}


def test_only_boundaries_among_the_probes_count() -> None:
    assert inside_run(FOUND, [-1, 0, 4 * SECOND, 5 * SECOND]) == [0, 4 * SECOND]


def test_late_and_missing_alerts_are_slow() -> None:
    assert slow_share(FOUND) == round(2 / 3, 6)


def test_probes_near_a_boundary_are_left_out() -> None:
    assert between(FOUND, []) == [5, SECOND]
    assert between(FOUND, [3 * SECOND - 1]) == [5]
