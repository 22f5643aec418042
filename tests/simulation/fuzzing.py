"""Many histories: a range of seeds, one seed again, or seeds without end on several processes."""

import gc
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Final

from tests.simulation.history import Failure, failure_of, quiet
from tests.simulation.keeper_mutants import KEEPER_MUTANTS
from tests.simulation.mutants import planted
from tests.simulation.plan import draw_plan
from tests.simulation.shrinking import shrunk
from tests.simulation.telling import told

ROUND_HISTORIES: Final = 2000
SEEDS: Final = 2**40
Say = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Shard:
    """What one process has run: histories, CPU seconds, and the seed that failed, if one did."""

    histories: int
    cpu_seconds: float
    failed_seed: int | None = None
    reason: str = ""


def first_failure(seeds: Iterable[int], *, keeping: bool = False) -> tuple[int, Failure | None]:
    """Run histories until one fails; return how many were run, and the failure.

    With `keeping`, only those with keepers are run.
    """
    count = 0
    for plan in map(draw_plan, seeds):
        if keeping and not plan.keeping:
            continue
        count += 1
        failure = failure_of(plan)
        if failure is not None:
            return count, failure
    return count, None


def replay(seed: int, say: Say) -> int:
    """Run one seed again; if it fails, shrink it and tell the story."""
    quiet()
    failure = failure_of(draw_plan(seed))
    if failure is None:
        say(f"seed {seed}: nothing is broken\n")
        return 0
    say(story(failure, seed))
    return 1


def story(failure: Failure, seed: int) -> str:
    """Return a failure's smallest form, told with its timeline."""
    smallest = shrunk(failure).plan
    traced = failure_of(smallest, traced=True)
    return told(traced or failure, seed)


def story_of(seed: int) -> str:
    """Return the story of a seed, told by a process of its own, whose programs log nothing."""
    told = subprocess.run(
        _command("replay", str(seed)), check=False, stdout=subprocess.PIPE, text=True
    )
    return told.stdout


def run(base: int, count: int, say: Say, mutant: str | None = None) -> int:
    """Run a range of seeds; say as JSON what came of it (the form of Shard)."""
    quiet()
    gc.freeze()
    begun = time.process_time()
    with planted(mutant) if mutant else nullcontext():
        # A keeper's bug shows only where there are keepers.
        only = mutant in KEEPER_MUTANTS
        ran, failure = first_failure(range(base, base + count), keeping=only)
    failed = None if failure is None else failure.plan.seed
    shard = {
        "histories": ran,
        "cpu_seconds": round(time.process_time() - begun, 3),
        "failed_seed": failed,
        "reason": "" if failure is None else failure.reason,
    }
    say(json.dumps(shard) + "\n")
    return 0 if failed is None else 1


def shards(base: int, count: int, processes: int, mutant: str | None = None) -> list[Shard]:
    """Run a range of seeds on several processes, each until one fails."""
    each = -(-count // processes)
    started = [_start(base + index * each, each, mutant) for index in range(processes)]
    return [_shard(process) for process in started]


def fuzz(processes: int, say: Say) -> int:
    """Run random seeds until a promise is broken (1) or somebody presses Ctrl-C (0)."""
    begun, total, base = time.monotonic(), 0, random.SystemRandom().randrange(SEEDS)
    say(f"histories from seed {base} on, {processes} processes; Ctrl-C ends it\n")
    try:
        while True:
            done = shards(base, ROUND_HISTORIES * processes, processes)
            total += sum(each.histories for each in done)
            base += ROUND_HISTORIES * processes
            for shard in done:
                if shard.failed_seed is not None:
                    return replay(shard.failed_seed, say)
            rate = total / (time.monotonic() - begun)
            say(f"{total} histories, {rate:.0f} a second, all promises kept\n")
    except KeyboardInterrupt:
        say(f"{total} histories, all promises kept\n")
        return 0


def write(text: str) -> None:
    """Write to standard output at once."""
    sys.stdout.write(text)
    sys.stdout.flush()


def _start(base: int, count: int, mutant: str | None) -> "subprocess.Popen[str]":
    command = _command("run", "--base", str(base), "--count", str(count))
    command += ["--mutant", mutant] if mutant else []
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _command(*words: str) -> list[str]:
    return [sys.executable, "-m", "tests.simulation", *words]


def _shard(process: "subprocess.Popen[str]") -> Shard:
    output, _ = process.communicate()
    if process.returncode not in (0, 1):
        raise RuntimeError(f"a shard ended with exit code {process.returncode}")
    return Shard(**json.loads(output))
