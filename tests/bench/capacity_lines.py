"""The part of the report about growth, as Markdown."""

from collections.abc import Iterator, Sequence

from tests.bench.books import BooksRow
from tests.bench.drain import DrainRow
from tests.bench.gateway import GatewayRow


def slope_lines(rows: Sequence[DrainRow]) -> Iterator[str]:
    """Yield the table of rates by partitions."""
    yield "## Slope: one auditor, as many shuffle partitions as the stream has partitions"
    yield ""
    yield "| partitions | events/s | warm events/s | CPU µs per event | right | load average |"
    yield "|---" * 6 + "|"
    for row in rows:
        right = "yes" if row.agrees else f"**no: {row.disagreement}**"
        yield (
            f"| {row.partitions} | {row.events_per_second} | {row.warm_events_per_second} "
            f"| {row.cpu_us_per_event} | {right} | {row.load_average} |"
        )


def books_lines(rows: Sequence[BooksRow]) -> Iterator[str]:
    """Yield the table of open books."""
    yield "## Open books: one auditor, a request and a purchase each"
    yield ""
    yield (
        "| books | events/s while they open | resident MiB | of it state MiB | checkpoint MiB "
        "| longest pause between batches after, s |"
    )
    yield "|---" * 6 + "|"
    for row in rows:
        yield (
            f"| {row.books} | {row.events_per_second} | {row.resident_mebibytes} "
            f"| {row.state_mebibytes} | {row.disk_mebibytes} | {row.boundary_seconds} |"
        )
    yield ""
    yield "As few as 10,000 are open before Java has compiled anything: that rate is a start's."


def gateway_lines(rows: Sequence[GatewayRow]) -> Iterator[str]:
    """Yield the table of what the gateway takes."""
    yield "## Gateway: four senders, each waits for its answer"
    yield ""
    yield (
        "| events a request | events/s | events per core-second | cores | not accepted "
        "| broker writes, CPU µs per event |"
    )
    yield "|---" * 6 + "|"
    for row in rows:
        yield (
            f"| {row.events_per_request} | {row.events_per_second} "
            f"| {row.events_per_core_second} | {row.cores} | {row.refused} "
            f"| {row.broker_cpu_us_per_event or 'not measured'} |"
        )
