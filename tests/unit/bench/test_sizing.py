"""Sizing: more of anything never costs less, units hold, nonsense is refused with a reason."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.bench.sizing.__main__ import EXIT_USAGE, main
from tests.bench.sizing.cost import Load, cheapest, on_aws, on_own
from tests.bench.sizing.demand import Demand
from tests.bench.sizing.figures import FIGURES_FILE, read_figures
from tests.bench.sizing.needs import needs
from tests.bench.sizing.prices import PRICES_FILE, read_prices
from tests.bench.sizing.report import lines

FIGURES = read_figures()
PRICES = read_prices()
DEMANDS = st.builds(
    Demand,
    rate=st.floats(100, 1e7),
    mean_share=st.floats(0.01, 1),
    event_bytes=st.integers(10, 4000),
    alert_rate=st.floats(0, 100),
    deliveries_per_alert=st.floats(0, 20),
    retention_hours=st.floats(1, 2000),
    replication=st.integers(1, 5),
    opens_share=st.floats(0, 1),
    book_hours=st.floats(0.1, 1000),
    open_books=st.none() | st.integers(0, 10**9),
    archive_days=st.integers(0, 1000),
    ledger_days=st.integers(1, 1000),
    auditors=st.integers(1, 2),
    busy_share=st.floats(0.1, 0.9),
)
MORE = {
    "rate": 2,
    "mean_share": 2,
    "event_bytes": 2,
    "alert_rate": 2,
    "deliveries_per_alert": 2,
    "retention_hours": 2,
    "replication": 2,
    "opens_share": 2,
    "book_hours": 2,
    "open_books": 2,
    "archive_days": 2,
    "ledger_days": 2,
    "auditors": 2,
    "busy_share": 0.5,
}


def dollars(demand: Demand) -> list[float]:
    found = needs(demand, FIGURES)
    return [on_aws(demand, found, PRICES.aws).total, on_own(demand, found, PRICES.own).total]


def with_more(demand: Demand, name: str) -> Demand | None:
    """Return the demand with one thing harder to do, or None where that is beyond its limits."""
    asked = demand.model_dump()
    if asked[name] is None:
        return None
    asked[name] = type(asked[name])(asked[name] * MORE[name])
    try:
        return Demand.model_validate(asked)
    except ValueError:
        return None


@given(DEMANDS, st.sampled_from(sorted(MORE)))
def test_more_of_anything_never_needs_or_costs_less(demand: Demand, name: str) -> None:
    harder = with_more(demand, name)
    if harder is None:
        return
    before, after = needs(demand, FIGURES), needs(harder, FIGURES)
    assert sum(after.cores.values()) >= sum(before.cores.values())
    assert sum(after.memory_gibibytes.values()) >= sum(before.memory_gibibytes.values())
    assert after.disk_gigabytes >= before.disk_gigabytes
    assert after.brokers >= before.brokers
    for cheaper, dearer in zip(dollars(demand), dollars(harder), strict=True):
        assert dearer >= cheaper * (1 - 1e-9)


def test_every_option_is_tried_for_more() -> None:
    assert MORE.keys() == Demand.model_fields.keys()


@given(DEMANDS, st.sampled_from([each for each, _ in FIGURES.items()]))
def test_a_dearer_figure_never_makes_it_cheaper(demand: Demand, name: str) -> None:
    figure = getattr(FIGURES, name)
    dearer = replace(FIGURES, **{name: figure.model_copy(update={"value": figure.value * 2})})
    before, after = needs(demand, FIGURES), needs(demand, dearer)
    assert sum(after.cores.values()) >= sum(before.cores.values())
    assert after.disk_gigabytes >= before.disk_gigabytes


def test_units_hold() -> None:
    """100,000 events of 1,000 bytes: figures that can be worked out by hand."""
    demand = Demand(
        rate=100_000, mean_share=1, event_bytes=1000, replication=3, retention_hours=24, auditors=2
    )
    found = needs(demand, FIGURES)
    cost, awake = FIGURES.rule_cpu_us.value, FIGURES.auditor_awake_cores.value
    assert found.cores["auditors"] == pytest.approx((100_000 * cost / 1e6 + awake) * 2 / 0.5)
    assert found.write_megabytes_per_second == pytest.approx(300)
    assert found.network_megabits["in from publishers"] == pytest.approx(800)
    assert found.broker_disk_gigabytes == pytest.approx(100 * 86_400 * 3 / 1000 / 0.7)
    assert found.brokers >= 3


def test_books_grow_with_the_rate() -> None:
    slow, fast = Demand(rate=10_000), Demand(rate=250_000)
    assert (slow.books, fast.books) == (54_000_000, 1_350_000_000)
    assert Demand(rate=10_000, open_books=7).books == 7
    one, other = needs(slow, FIGURES), needs(fast, FIGURES)
    grown = fast.books - slow.books
    assert other.state_disk_gigabytes == pytest.approx(25 * one.state_disk_gigabytes)
    auditors = other.memory_gibibytes["auditors"] - one.memory_gibibytes["auditors"]
    assert auditors * 2**30 == pytest.approx(2 * grown * FIGURES.book_memory_bytes.value)


@pytest.mark.parametrize(("rate", "beyond"), [("1000", False), ("10000", True)])
def test_more_books_than_were_measured_are_told(
    rate: str, beyond: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--rate", rate]) == 0
    assert ("54,000,000 books open at once" in capsys.readouterr().out) is beyond


@given(st.floats(0.1, 5000), st.floats(0.1, 50_000), st.floats(0.1, 1e6), st.integers(1, 20))
def test_the_machines_carry_the_load(
    cores: float, memory: float, network: float, fewest: int
) -> None:
    fleet = cheapest(PRICES.aws.machines, fewest, Load(cores, memory, network))
    assert fleet.count >= fewest
    assert fleet.count * fleet.machine.cores >= cores * (1 - 1e-9)
    assert fleet.count * fleet.machine.memory_gibibytes >= memory * (1 - 1e-9)
    assert fleet.count * fleet.machine.network_megabits >= network * (1 - 1e-9)


def test_the_newest_figure_of_the_bench_is_used(tmp_path: Path) -> None:
    bench = tmp_path / "bench.json"
    row = {"engine": "single", "watch": "over-purchase", "agrees": True, "events": 5}
    rows: list[dict[str, Any]] = [
        row | {"engine": "flink", "cpu_us_per_event": 1.0},
        row | {"watch": "parse", "agrees": None, "cpu_us_per_event": 2.0},
        row | {"agrees": False, "cpu_us_per_event": 3.0},
        row | {"events": 4, "cpu_us_per_event": 4.0},
        row | {"cpu_us_per_event": 17.5},
    ]
    bench.write_text(json.dumps({"drain": rows}))
    assert read_figures(bench=bench).rule_cpu_us.value == 17.5
    rows[-1]["broker_cpu_us_per_event"] = 1.5
    bench.write_text(json.dumps({"drain": rows}))
    assert read_figures(bench=bench).broker_read_cpu_us.value == 1.5
    rows += [rows[-1] | {"cpu_us_per_event": slow} for slow in (20.0, 80.0)]
    bench.write_text(json.dumps({"drain": rows}))
    assert read_figures(bench=bench).rule_cpu_us.value == 20.0
    assert read_figures(bench=tmp_path / "none").rule_cpu_us.value == 11.0
    gateway = {"events_per_core_second": 50_000, "broker_cpu_us_per_event": 2.5}
    taken_in = [gateway | {"events_per_request": 200}, gateway | {"events_per_request": 1}]
    taken_in[1]["broker_cpu_us_per_event"] = 80.0
    bench.write_text(json.dumps({"gateway": taken_in}))
    assert read_figures(bench=bench).gateway_cpu_us.value == 20.0
    assert read_figures(bench=bench).broker_write_cpu_us.value == 2.5
    opened = {"books": [{"books": 10}, {"books": 1000}]}
    bench.write_text(json.dumps(opened | {"bytes_per_open_book": {"memory": 33, "disk": 50}}))
    found = read_figures(bench=bench)
    assert (found.book_memory_bytes.value, found.book_disk_bytes.value) == (33, 50)
    assert found.measured_books.value == 1000
    bench.write_text("no json")
    assert read_figures(bench=bench).rule_cpu_us.value == 11.0


def test_being_awake_costs_the_most_that_was_measured_beyond_the_drained_cost(
    tmp_path: Path,
) -> None:
    bench, none = tmp_path / "bench.json", tmp_path / "none"
    drained = {"engine": "single", "watch": "over-purchase", "agrees": True, "events": 5}
    rows = [
        {"engine": engine, "rate": rate, "cores": {"engine": cores}}
        for engine, rate, cores in (
            ("single", 1000, 0.2),
            ("single", 10_000, 0.5),
            ("pair", 10_000, 1.2),
            ("flink-heap", 10_000, 9.0),
        )
    ]
    report = {"drain": [drained | {"cpu_us_per_event": 10.0}], "latency": rows}
    bench.write_text(json.dumps(report))
    found = read_figures(bench=bench, parts=none).auditor_awake_cores
    assert found.value == pytest.approx(0.5)
    assert "at 1,000 to 10,000 events a second" in found.origin
    assert read_figures(bench=none, parts=none).auditor_awake_cores.value == 0.26


def test_figures_of_several_machines_are_told(tmp_path: Path) -> None:
    row = {"engine": "single", "watch": "over-purchase", "agrees": True, "events": 5}
    report = {
        "drain": [row | {"cpu_us_per_event": 5.0, "broker_cpu_us_per_event": 1.0}],
        "gateway": [{"events_per_request": 200, "events_per_core_second": 50_000}],
        "measured": {"drain": {"machine": "Machine: cores 96."}, "gateway": {}},
        "machine": {"cores": "2"},
    }
    bench = tmp_path / "bench.json"
    bench.write_text(json.dumps(report))
    figures = read_figures(bench=bench, parts=tmp_path / "none")
    assert figures.machines() == {
        "cores 96": ["rule_cpu_us", "broker_read_cpu_us"],
        "cores 2": ["gateway_cpu_us"],
    }
    demand = Demand(rate=100)
    told = "\n".join(lines(demand, figures, needs(demand, figures), {}, PRICES))
    assert "rule_cpu_us, broker_read_cpu_us: cores 96\n" in told.partition("Mind")[2]
    one = replace(figures, gateway_cpu_us=figures.rule_cpu_us)
    assert "Mind" not in "\n".join(lines(demand, one, needs(demand, one), {}, PRICES))


def test_figures_of_the_whole_system_take_the_place_of_what_was_assumed(tmp_path: Path) -> None:
    parts = {
        "cores": 2,
        "cpu_us_per_event": {"gateway": 30.0, "archivist": 0.0},
        "cpu_us_per_alert": {"lookout": 1000.0, "postgres": 600.0, "deliverers": 3000.0},
        "memory_mebibytes": dict.fromkeys(("gateway", "lookout", "deliverers", "others"), 100),
    }
    file = tmp_path / "parts.json"
    file.write_text(json.dumps(parts))
    none = tmp_path / "none"
    before, after = read_figures(bench=none, parts=none), read_figures(bench=none, parts=file)
    assert after.archivist_cpu_us == before.archivist_cpu_us
    assert after.alert_cpu_us.value == 1300.0
    assert after.delivery_cpu_us.value == 1100.0
    assert after.services_mebibytes.value == 400
    assert "parts.json" in after.alert_cpu_us.origin


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--rate", "x"], "rate"),
        (["--rate", "-5"], "rate"),
        (["--rate", "100", "--replication", "0"], "replication"),
        (["--rate", "100", "--open-books", "1.5"], "open_books"),
        (["--rate", "100", "--alert-rate", "200"], "alert_rate is above rate"),
        (["--rate", "100", "--busy-share", "1"], "busy_share"),
        (["--rate", "100", "--prices", "nowhere.yaml"], "nowhere.yaml"),
        ([], "rate"),
    ],
)
def test_nonsense_is_refused_with_a_reason(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == EXIT_USAGE
    told = capsys.readouterr().err
    assert said in told
    assert "--help" in told


def test_a_damaged_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figures = yaml.safe_load(FIGURES_FILE.read_text())
    del figures["book_disk_bytes"]
    damaged = tmp_path / "figures.yaml"
    damaged.write_text(yaml.safe_dump(figures))
    assert main(["--rate", "100", "--figures", str(damaged)]) == EXIT_USAGE
    assert "book_disk_bytes" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "file", "said"),
    [
        ("--figures", FIGURES_FILE, 'from: "assumed"'),
        ("--prices", PRICES_FILE, 'source: "the same, for throughput above 125 MB/s per volume"'),
        ("--prices", PRICES_FILE, "date: 2026-06-17"),
    ],
)
def test_a_figure_or_price_says_where_it_is_from(
    option: str, file: Path, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, name = file.read_text(), said.partition(":")[0]
    damaged = tmp_path / file.name
    damaged.write_text(text.replace(said, f'{name}: ""', 1))
    assert main(["--rate", "100", option, str(damaged)]) == EXIT_USAGE
    assert f"{name}:" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "file", "number"),
    [
        ("--figures", FIGURES_FILE, "value: 11.0"),
        ("--prices", PRICES_FILE, "per_hour: 0.0816"),
        ("--prices", PRICES_FILE, "value: 0.08"),
    ],
)
def test_an_endless_number_is_refused(
    option: str, file: Path, number: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, name = file.read_text(), number.partition(":")[0]
    damaged = tmp_path / file.name
    damaged.write_text(text.replace(number, f"{name}: .inf", 1))
    assert main(["--rate", "100", option, str(damaged)]) == EXIT_USAGE
    assert "finite" in capsys.readouterr().err


def test_the_report_prints_needs_costs_and_assumptions(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--rate", "250000", "--auditors", "1"]) == 0
    told = capsys.readouterr().out
    for part in ("Needs", "Cost on AWS", "Cost on own machines", "Mind", "Asked for", "Prices"):
        assert part in told
    for name, _ in FIGURES.items():
        assert name in told
