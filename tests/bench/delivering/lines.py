"""The delivering part of the report, as Markdown."""

from collections.abc import Iterator

from tests.bench.delivering.claims import ClaimsRow
from tests.bench.delivering.first_byte import FirstByteRow
from tests.bench.delivering.storm import StormRow
from tests.bench.delivering.whole_way import WholeWayRow
from tests.bench.disk import STALL_MS
from tests.bench.pace import WORK_MEANS
from tests.bench.percentiles import Latency


def claims_lines(rows: list[ClaimsRow]) -> Iterator[str]:
    """Yield the table of claims."""
    yield "## Claims: claimed and settled per second, two owners, nothing sent in between"
    yield ""
    yield "| waiting | claimed at once | settled/s | claim: p50 ms | p99 ms | CPU µs |"
    yield "|---" * 6 + "|"
    for row in rows:
        claim = row.claim
        yield (
            f"| {row.waiting} | {row.batch} | {row.per_second} | {claim.p50_ms} | {claim.p99_ms} "
            f"| {row.postgres_us} |"
        )
    yield ""
    yield "CPU is that of Postgres for one delivery, claimed and settled."


def first_byte_lines(rows: list[FirstByteRow]) -> Iterator[str]:
    """Yield the table of first bytes."""
    yield "## From an alert on topic `alerts` to its first byte at the provider"
    yield ""
    yield (
        "Open loop, in ms, from the intended send time; lookouts and deliverers as processes, "
        "*each* so many: of two the second is a mirror, which is told of everything too."
    )
    yield WORK_MEANS
    yield (
        "The disk: what a block of 4 KiB took to become durable, ten times a second, in ms. "
        f"Undisturbed: alerts sent neither while that took longer than {STALL_MS:.0f} ms nor in "
        "the half second after; a stall between two of these blocks is not seen."
    )
    yield ""
    yield (
        "| channel | each | alerts/s | alerts (missing, repeats) | p50 | p99 | p99.9 | max "
        "| CPU ms | a core's speed | the disk: p50, p99, max | undisturbed: alerts | p50 | p99 |"
    )
    yield "|---" * 14 + "|"
    for row in rows:
        still, disk = row.undisturbed, row.disk
        of_them = f"{still.p50_ms} | {still.p99_ms}" if still.count else "- | -"
        seen = f"{disk.p50_ms}, {disk.p99_ms}, {disk.max_ms}" if disk.count else "-"
        first, spent = row.first_byte, ", ".join(f"{k} {v}" for k, v in row.cpu_ms.items())
        yield (
            f"| {row.channel} | {row.programs_each} | {row.rate} "
            f"| {row.alerts} ({row.missing}, {row.repeats}) "
            f"| {first.p50_ms} | {first.p99_ms} | {first.p999_ms} | {first.max_ms} | {spent} "
            f"| {row.work_us[0]}, {row.work_us[1]} | {seen} "
            f"| {still.count} | {of_them} |"
        )


def storm_lines(storm: StormRow) -> Iterator[str]:
    """Yield the table of the storm, and how it ended."""
    yield "## A storm to one channel whose provider takes much less"
    yield ""
    yield (
        "| each | alerts | offered/s | recorded | recorded/s | provider's limit/s "
        "| sent/s while recording: median | least | repeats |"
    )
    yield "|---" * 9 + "|"
    yield (
        f"| {storm.programs_each} | {storm.alerts} | {storm.offered_per_second} | {storm.recorded} "
        f"| {storm.recorded_per_second} | {storm.provider_limit_per_second} "
        f"| {storm.sent_median_per_second} | {storm.sent_least_per_second} | {storm.repeats} |"
    )
    if end := storm.end:
        states = ", ".join(f"{count} {state}" for state, count in sorted(end.states.items()))
        yield ""
        yield (
            f"To its end: {end.sent_per_second} sent a second from the first to the last, at most "
            f"{end.most_behind} behind the limit at any time; the far end got {end.received}, "
            f"{end.missing} missing, {storm.repeats} repeated; in the ledger: {states}."
        )


def whole_way_lines(rows: list[WholeWayRow]) -> Iterator[str]:
    """Yield the table of the whole way."""
    yield "## The whole way: from a publisher's request to the first byte at the provider"
    yield ""
    yield (
        "All that `make run` starts on these cores, with its mirrors, its heartbeats and its three "
        "channels; each alert is told on all of them, and the webhook's first byte is taken. Open "
        "loop, in ms, from the instant at which the crossing purchase was to be posted: p50, p99, "
        "p99.9, max."
    )
    yield WORK_MEANS
    yield "The disk: what a block of 4 KiB took to become durable, ten times a second, in ms."
    yield ""
    yield (
        "| alerts/s | among events/s | alerts (missing, repeats) | accepted by the gateway "
        "| alert in a reader's hands | **first byte** | cores | a core's speed "
        "| the disk: p50, p99, max |"
    )
    yield "|---" * 9 + "|"
    for row in rows:
        spent = ", ".join(f"{kind} {used:g}" for kind, used in sorted(row.cores.items()))
        yield (
            f"| {row.alerts_per_second:g} | {row.events_per_second} "
            f"| {row.alerts} ({row.missing}, {row.repeats}) | {_four(row.answered)} "
            f"| {_four(row.alerted)} | {_four(row.first_byte)} "
            f"| {sum(row.cores.values()):.2f} ({spent}) | {row.work_us[0]}, {row.work_us[1]} "
            f"| {row.disk.p50_ms}, {row.disk.p99_ms}, {row.disk.max_ms} |"
        )


def _four(of: Latency) -> str:
    return f"{of.p50_ms}, {of.p99_ms}, {of.p999_ms}, {of.max_ms}"
