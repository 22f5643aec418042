"""Writes docs/reports/simulation.md: how fast histories run, how soon planted bugs are found."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from tests.simulation import fuzzing
from tests.simulation.mutants import MUTANTS

REPORT: Final = Path(__file__).parents[2] / "docs" / "reports" / "simulation.md"
LIMIT_HISTORIES: Final = 20_000


def report(histories: int) -> str:
    """Run everything; return the report's text."""
    return "\n".join(_lines(histories)) + "\n"


def _lines(histories: int) -> Iterator[str]:
    base = random.SystemRandom().randrange(fuzzing.SEEDS)
    done = fuzzing.shards(base, histories, 2)
    count = sum(each.histories for each in done)
    cpu_ms = 1000 * sum(each.cpu_seconds for each in done) / count
    broken = [each.failed_seed for each in done if each.failed_seed is not None]
    yield "# Report: simulated histories"
    yield ""
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    yield f"{today}, by `python -m tests.simulation report`; see ../simulation.md."
    yield ""
    yield f"- {count} histories from seed {base} on: {cpu_ms:.1f} ms of CPU each, two processes."
    yield f"- Broken promises: {', '.join(map(str, broken)) or 'none'}."
    yield ""
    yield "## Known bugs, planted one at a time"
    yield ""
    yield "| bug | found in history | as |"
    yield "|---|---|---|"
    for mutant in MUTANTS:
        (shard,) = fuzzing.shards(0, LIMIT_HISTORIES, 1, mutant)
        found = "not found" if shard.failed_seed is None else str(shard.histories)
        yield f"| {mutant} | {found} | {shard.reason[:110]} |"
