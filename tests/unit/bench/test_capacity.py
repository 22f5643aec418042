"""Figures for reckoning: only from right rows of the shipped rule, and only where measured."""

from dataclasses import replace

from tests.bench.books import BooksRow
from tests.bench.capacity import bytes_per_open_book, per_core
from tests.bench.drain import DrainRow
from tests.bench.gateway import GatewayRow

OURS = DrainRow("single", "over-purchase", 2, 9, 1.0, 9, 9, 20.0, 2.0, 800, True, "", 0.5)
OTHERS = [
    replace(OURS, engine="flink-heap", cpu_us_per_event=1.0),
    replace(OURS, watch="sum", agrees=None, cpu_us_per_event=1.0),
    replace(OURS, agrees=False, cpu_us_per_event=1.0),
]


def test_one_core_is_what_our_right_rows_say() -> None:
    gateway = [GatewayRow(200, 9, 30_000, 0.9, 0), GatewayRow(1, 9, 2_000, 0.9, 0)]
    assert per_core([OURS, *OTHERS], gateway) == {
        "auditor_events_per_second": 50_000,
        "broker_read_events_per_second": 500_000,
        "gateway_events_per_second": 30_000,
        "gateway_single_events_per_second": 2_000,
    }


def test_what_was_not_measured_is_missing() -> None:
    assert per_core(OTHERS, []) == {}
    assert bytes_per_open_book([BooksRow(10, 1, 500, 1, 1, 0.1)]) == {}


def test_a_book_costs_the_slope() -> None:
    few, many = BooksRow(0, 1, 500, 1, 10, 0.1), BooksRow(2**20, 1, 700, 1, 110, 0.1)
    assert bytes_per_open_book([many, few]) == {"memory": 200, "disk": 100}
