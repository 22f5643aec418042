"""What an open book takes is the slope, and is said only where it was measured."""

from tests.bench.books import BooksRow
from tests.bench.capacity import bytes_per_open_book


def test_what_was_not_measured_is_missing() -> None:
    assert bytes_per_open_book([BooksRow(10, 1, 500, 1, 1, 0.1)]) == {}


def test_a_book_costs_the_slope() -> None:
    few, many = BooksRow(0, 1, 500, 1, 10, 0.1), BooksRow(2**20, 1, 700, 1, 110, 0.1)
    assert bytes_per_open_book([many, few]) == {"memory": 200, "disk": 100}
