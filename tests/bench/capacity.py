"""Figures for reckoning a machine's size, derived from the rows of a report.

They stand in bench.json (`make size` takes the rows themselves):

    "per_core": {"auditor_events_per_second": ..., "broker_read_events_per_second": ...,
                 "gateway_events_per_second": ..., "gateway_single_events_per_second": ...}
    "bytes_per_open_book": {"memory": ..., "disk": ...}

Per core means: per second of one core's whole time, of this machine's cores. The gateway's first
figure is for requests of many events, the second for one event a request. A book is a request with
one purchase. A key is missing where its rows were not measured.
"""

import statistics
from collections.abc import Sequence

from tests.bench.books import BooksRow
from tests.bench.drain import DrainRow
from tests.bench.gateway import GatewayRow

MEBIBYTE = 2**20


def per_core(drain: Sequence[DrainRow], gateway: Sequence[GatewayRow]) -> dict[str, int]:
    """Return events per core-second, by component."""
    ours = [row for row in drain if row.engine == "single" and row.agrees]
    found = {}
    if ours:
        auditor = statistics.median(row.cpu_us_per_event for row in ours)
        broker = statistics.median(row.broker_cpu_us_per_event for row in ours)
        found["auditor_events_per_second"] = int(1e6 / auditor)
        found["broker_read_events_per_second"] = int(1e6 / max(broker, 0.1))
    if gateway:
        many = max(gateway, key=lambda row: row.events_per_request)
        found["gateway_events_per_second"] = many.events_per_core_second
    for row in gateway:
        if row.events_per_request == 1:
            found["gateway_single_events_per_second"] = row.events_per_core_second
    return found


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
