"""What was written is read again: sections that are not measured anew stay."""

from dataclasses import replace
from pathlib import Path

from tests.bench.drain import DrainRow
from tests.bench.facts import machine_line
from tests.bench.kills import Beside, Kills
from tests.bench.latency import LatencyRow
from tests.bench.percentiles import summary
from tests.bench.report import Report, Skipped, kept
from tests.bench.rounds import Ratio
from tests.bench.sections.latencies import latency_ratios

LATENCY = LatencyRow(
    engine="single",
    visit=0,
    rate=1000,
    probes=3,
    missing=0,
    again=1,
    strange=0,
    alert=summary([10**6]),
    between_boundaries=summary([]),
    echo=summary([10**6]),
    boundaries=5,
    cores={"engine": 0.5, "broker": 0.1, "load": 0.1, "probes": 0.1},
    engine_memory_mebibytes=800,
    load={"sent": 1.0},
    load_average=0.5,
)
DRAIN = DrainRow("single", "over-purchase", 2, 9, 1.0, 9, 9, 1.0, 1.0, 800, False, "missed 1", 0.5)


KILLED = replace(
    LATENCY,
    engine="pair-killed",
    slow_share=0.0125,
    kills=Kills([12.5, None], 1, {"dead": Beside(summary([2 * 10**6]), summary([10**6]))}),
)


def test_report_is_kept(tmp_path: Path) -> None:
    report = Report(latency=[LATENCY, KILLED], drain=[DRAIN])
    report.ratios["drain"] = [Ratio("warm rate", "single", "pass-through", 2, 0.5, 0.4, 0.6)]
    report.skipped["drain"] = [Skipped("flink-heap", "no JDK")]
    report.note("drain", "make bench")
    text = report.write(tmp_path).read_text()
    assert kept(tmp_path) == report
    assert "| pair-killed (0) | 1000 | 2 | 12.5, ? | 1 | dead | 1 | 2.0 " in text
    assert "| 1.25% |" in text
    for said in ("single (0)", "**no: missed 1**", "single / pass-through", "flink-heap: no JDK"):
        assert said in text
    assert "Measured by `make bench`" in text
    assert "holds no batch boundary" in text


def test_ratios_of_latency_are_of_right_rows_only() -> None:
    ours, peer = LATENCY, replace(LATENCY, engine="flink-heap", alert=summary([2 * 10**6]))
    names = ["p50 at 1000/s", "p99 at 1000/s", "p99.9 at 1000/s"]
    found = latency_ratios([ours, peer])
    assert [(each.what, each.median) for each in found] == [(name, 0.5) for name in names]
    for wrong in (replace(peer, missing=1), replace(peer, strange=1), replace(peer, visit=1)):
        assert latency_ratios([ours, wrong]) == []


def test_each_section_names_its_machine(tmp_path: Path) -> None:
    report = Report(latency=[LATENCY], drain=[DRAIN], machine={"cores": "96"})
    report.measured["latency"] = {"command": "make bench", "at": "then", "load_average": "0.1"}
    report.note("drain", "make bench")
    text = report.write(tmp_path).read_text()
    assert text.count("Machine: ") == 2
    assert "Machine: cores 96" in text.partition("Sustained rate")[0]
    assert machine_line() in text.partition("Sustained rate")[2]


def test_unreadable_report_is_begun_anew(tmp_path: Path) -> None:
    assert kept(tmp_path).latency == []
    (tmp_path / "bench.json").write_text('{"latency": 5}')
    assert kept(tmp_path).latency == []
