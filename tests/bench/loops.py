"""The rule over events in memory on one core, without broker or engine: what it costs by itself."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tests.bench.disorder import disorder
from tests.bench.drain import DISORDER_ORDERS, DISORDER_SEED
from tests.bench.engine import ROOT
from tests.bench.engines.java import compiled
from tests.bench.rule import Books
from tests.bench.traffic import background

ROUNDS = 5
TIMEOUT_SECONDS = 300
ON_ONE_CORE = "import os,sys; os.sched_setaffinity(0, {0}); os.execvp(sys.argv[1], sys.argv[1:])"


@dataclass(frozen=True)
class LoopRow:
    """The best of some rounds in one language; `agrees`: it found as many as the rule says."""

    language: str
    events: int
    events_per_second: int
    agrees: bool


def measure_loop(language: str, events: int) -> LoopRow:
    """Run the loop over orders in disorder and `events` more.

    Raises:
        Unavailable: the language's tools are missing.
    """
    with tempfile.TemporaryDirectory() as folder:
        lines, crossed = Path(folder) / "events.jsonl", 0
        mixed, orders = disorder(DISORDER_SEED, DISORDER_ORDERS)
        crossed = len(orders)
        with lines.open("wb") as file:
            for _, event in [*mixed, *islice(background("loop"), events)]:
                file.write(event + b"\n")
        command = [sys.executable, "-m", "tests.bench.loops", str(lines), str(ROUNDS)]
        if language == "java":
            built = compiled()
            main = ["-cp", built.class_path, "bench.BareLoop", str(lines), str(ROUNDS)]
            command = [str(built.java), "-Xmx2g", *main]
        best, alerts = _best(command)
    return LoopRow(language, events + len(mixed), best, alerts == {crossed})


def _best(command: Sequence[str]) -> tuple[int, set[int]]:
    """Return the best rate, and every count of alerts that a round found."""
    pinned = [sys.executable, "-c", ON_ONE_CORE, *command]
    said = subprocess.run(
        pinned, check=True, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT_SECONDS
    )
    rounds = [tuple(map(int, line.split())) for line in said.stdout.splitlines()]
    return max(rate for rate, _ in rounds), {alerts for _, alerts in rounds}


def main() -> None:
    """Run the Python loop over a file; print rate and alerts of each round."""
    lines = Path(sys.argv[1]).read_bytes().splitlines()
    for _ in range(int(sys.argv[2])):
        started, books = time.monotonic(), Books()
        alerts = sum(
            books.take(line, at_ms // 1000) is not None for at_ms, line in enumerate(lines)
        )
        rate = len(lines) / (time.monotonic() - started)
        sys.stdout.write(f"{int(rate)} {alerts}\n")


if __name__ == "__main__":
    main()
