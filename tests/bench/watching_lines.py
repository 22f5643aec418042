"""The watching part of the report, as Markdown."""

from collections.abc import Iterator, Sequence
from typing import Final

from tests.bench.drain import DrainRow
from tests.bench.kills import Kills
from tests.bench.latency import LatencyRow
from tests.bench.loops import LoopRow
from tests.bench.pace import WORK_MEANS
from tests.bench.rounds import Ratio

CORES: Final = ("engine", "broker", "load", "probes", "stolen")


def latency_lines(rows: Sequence[LatencyRow]) -> Iterator[str]:
    """Yield the table of latencies, one row a visit."""
    yield "## Latency: intended send time of a crossing purchase to its alert at the reader"
    yield ""
    yield (
        "Open loop, in ms; percentiles of the reader's own samples, warm-up left out. *Between* "
        "leaves out probes within a second of a batch boundary or checkpoint. *Echo* is the same "
        "probe sent at the same instant straight through the broker. Missing, again, strange: "
        "probes without alert, alerts beyond a probe's first, alerts that must not be. *Over*: the "
        "share of probes without alert within 40 ms. "
        "*Stolen*: processors that the host gave to others meanwhile; what then takes tens of "
        "milliseconds, the echo too, is the host's doing."
    )
    yield ""
    yield (
        "| engine (visit) | load/s | probes (missing, again, strange) | p50 | p99 | p99.9 | max "
        "| over | between: p50 | p99 | max | echo: p50 | p99 | max | boundaries "
        "| cores: engine, broker, load, probes, stolen | MiB | load average |"
    )
    yield "|---" * 18 + "|"
    for row in rows:
        alert, between, echo = row.alert, row.between_boundaries, row.echo
        cores = ", ".join(str(row.cores.get(each, "?")) for each in CORES)
        yield (
            f"| {row.engine} ({row.visit}) | {row.rate} "
            f"| {row.probes} ({row.missing}, {row.again}, {row.strange}) "
            f"| {alert.p50_ms} | {alert.p99_ms} | {alert.p999_ms} | {alert.max_ms} "
            f"| {_percent(row.slow_share)} "
            f"| {between.p50_ms} | {between.p99_ms} | {between.max_ms} "
            f"| {echo.p50_ms} | {echo.p99_ms} | {echo.max_ms} | {row.boundaries} | {cores} "
            f"| {row.engine_memory_mebibytes} | {row.load_average} |"
        )
    if killed := [(row, row.kills) for row in rows if row.kills]:
        yield ""
        yield from kill_lines(killed)


def _percent(share: float | None) -> str:
    return "?" if share is None else f"{share:.2%}"


def kill_lines(rows: Sequence[tuple[LatencyRow, Kills]]) -> Iterator[str]:
    """Yield the table of what kills cost, one row for each stage of a visit."""
    yield (
        "One at a time killed with SIGKILL, and started again on its checkpoint; in ms, by what "
        "the killed one was when a probe was sent. *Dead*: not started again yet. *Starting*: not "
        "in step yet. Both before the survivor's next boundary; *alone at a boundary*: from there "
        "on, near one, or raised behind one. *Away*: seconds from each kill until its alerts came "
        "within a second of their probes again. On one machine its start takes processors from "
        "all, the echo too."
    )
    yield ""
    yield (
        "| engine (visit) | load/s | kills | away | boundaries alone | the killed one was | probes "
        "| p50 | p99 | max | echo: p50 | p99 | max |"
    )
    yield "|---" * 13 + "|"
    for row, kills in rows:
        away = ", ".join("?" if each is None else str(each) for each in kills.away_seconds)
        for stage, seen in kills.stages.items():
            alert, echo = seen.alert, seen.echo
            yield (
                f"| {row.engine} ({row.visit}) | {row.rate} | {len(kills.away_seconds)} | {away} "
                f"| {kills.boundaries_alone} | {stage} | {alert.count} "
                f"| {alert.p50_ms} | {alert.p99_ms} | {alert.max_ms} "
                f"| {echo.p50_ms} | {echo.p99_ms} | {echo.max_ms} |"
            )


def drain_lines(rows: Sequence[DrainRow]) -> Iterator[str]:
    """Yield the table of drained backlogs."""
    yield "## Sustained rate: draining a backlog"
    yield ""
    yield (
        "All engines read the same topic from its start, each alone; *warm* is the second half of "
        "the backlog while all partitions were at work, as is the processor time. *Right* tells "
        "whether exactly the orders that the rule names were found among 2,000 orders in disorder "
        "with copies at the topic's start. Batches last 60 s, and Flink's checkpoints are as far "
        "apart, unless the command below has `--drain-batch-seconds`: a drain that takes less than "
        "half of that holds no batch boundary, and mostly no checkpoint. " + WORK_MEANS
    )
    yield ""
    yield (
        "| engine (visit) | rule | events | events/s | warm events/s "
        "| CPU µs per event: engine | broker | MiB | right | load average | a core's speed |"
    )
    yield "|---" * 11 + "|"
    for row in rows:
        right = {True: "yes", False: f"**no: {row.disagreement}**", None: "another rule"}
        yield (
            f"| {row.engine} ({row.visit}) | {row.watch} | {row.events} | {row.events_per_second} "
            f"| {row.warm_events_per_second} | {row.cpu_us_per_event} "
            f"| {row.broker_cpu_us_per_event} | {row.memory_mebibytes} | {right[row.agrees]} "
            f"| {row.load_average} | {row.work_us[0]}, {row.work_us[1]} |"
        )


def variant_lines(rows: Sequence[DrainRow]) -> Iterator[str]:
    """Yield the table of one change at a time."""
    yield "## Variants: one auditor, one change at a time against what is shipped"
    yield ""
    yield (
        "| variant (visit) | warm events/s | CPU µs per event | MiB | right | load average "
        "| a core's speed |"
    )
    yield "|---" * 7 + "|"
    for row in rows:
        right = "yes" if row.agrees else f"**no: {row.disagreement}**"
        yield (
            f"| {row.engine} ({row.visit}) | {row.warm_events_per_second} | {row.cpu_us_per_event} "
            f"| {row.memory_mebibytes} | {right} | {row.load_average} "
            f"| {row.work_us[0]}, {row.work_us[1]} |"
        )


def loop_lines(rows: Sequence[LoopRow]) -> Iterator[str]:
    """Yield the table of bare loops."""
    yield "## The rule over events in memory: one thread on one core, no broker, no engine"
    yield ""
    yield "| language | events | events/s, best of five rounds | right |"
    yield "|---" * 4 + "|"
    for row in rows:
        right = "yes" if row.agrees else "**no**"
        yield f"| {row.language} | {row.events} | {row.events_per_second} | {right} |"


def ratio_lines(ratios: Sequence[Ratio]) -> Iterator[str]:
    """Yield the table of ratios within this run."""
    yield "| ratio | engine / peer | pairs | median | least | largest |"
    yield "|---" * 6 + "|"
    for each in ratios:
        yield (
            f"| {each.what} | {each.engine} / {each.peer} | {each.pairs} | {each.median} "
            f"| {each.least} | {each.largest} |"
        )
