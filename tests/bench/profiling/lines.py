"""The profile as Markdown."""

from collections.abc import Iterator, Sequence

from tests.bench.profiling.profile import ProfileRow
from tests.bench.profiling.profiler import INTERVAL_MS


def profile_lines(rows: Sequence[ProfileRow]) -> Iterator[str]:
    """Yield the table: a step a line, a visit a column."""
    yield "## What each step costs: one auditor while it drains, CPU µs per event"
    yield ""
    yield (
        f"Sampled by async-profiler every {INTERVAL_MS} ms of each thread's own processor time, "
        "from the sixth to the ninth tenth of the backlog; what Java took then is divided by the "
        "samples. What a step calls belongs to it. It costs more than a drain that nobody looks "
        "into, as Java compiles with more notes."
    )
    yield ""
    yield f"| step |{''.join(f' {row.watch} ({row.visit}) |' for row in rows)}"
    yield f"|---{'|--:' * len(rows)}|"
    steps = dict.fromkeys(step for row in rows for step in row.steps)
    for step in steps:
        yield f"| {step} |{''.join(f' {row.steps.get(step, 0.0):.2f} |' for row in rows)}"
    yield f"| **all** |{''.join(f' {row.cpu_us_per_event:.2f} |' for row in rows)}"
    yield f"| samples |{''.join(f' {row.samples} |' for row in rows)}"
    yield f"| right |{''.join(' yes |' if row.agrees else ' **no** |' for row in rows)}"
