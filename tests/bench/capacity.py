"""What an open book takes, derived from the rows of a report.

It stands in bench.json, where `make size` reads it:

    "bytes_per_open_book": {"memory": ..., "disk": ...}

A book is a request with one purchase. It is empty where fewer than two numbers were measured.
"""

from collections.abc import Sequence

from tests.bench.books import BooksRow

MEBIBYTE = 2**20


def bytes_per_open_book(books: Sequence[BooksRow]) -> dict[str, int]:
    """Return the slope between the fewest and the most books."""
    if len({row.books for row in books}) < 2:
        return {}
    ordered = sorted(books, key=lambda row: row.books)
    few, many = ordered[0], ordered[-1]
    more = many.books - few.books
    grown = {
        "memory": many.resident_mebibytes - few.resident_mebibytes,
        "disk": many.disk_mebibytes - few.disk_mebibytes,
    }
    return {name: max(0, int(grew * MEBIBYTE / more)) for name, grew in grown.items()}
