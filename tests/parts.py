"""`python -m tests.parts`: all tests, in parts that run side by side; what `make test` runs.

A part is one pytest of its own, with servers of its own, so parts share nothing but the machine.
Most of the time tests wait for something, so two parts take little more time than the longer one,
and those that need the least of the processors run one after the other beside the two.
Each part's output is shown whole when it has ended; after all of them, what failed.
"""

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final

from services.machine.memory import memory_mebibytes
from services.machine.waiting import now_seconds
from tests.lacking import told_of

TESTS: Final = Path(__file__).parent
SPLIT: Final = ("integration",)
"""Folders of which each folder inside is a part."""
SECONDS: Final[Mapping[str, int]] = {
    "unit": 660,
    "integration/deliverer": 627,
    "integration/auditor": 470,
    "integration/console": 351,
    "integration/lookout": 296,
    "chart": 249,
    "simulation": 236,
    "integration/backbone": 211,
    "acceptance": 194,
    "integration/browser": 176,
    "integration/machine": 168,
    "integration/archivist": 159,
    "integration/accountant": 138,
    "integration/gateway": 135,
    "integration/rehearsal": 123,
    "integration/simulator": 62,
    "promises": 57,
    "integration/heartbeat": 38,
    "tidy": 28,
}
"""What a part took beside two others, on two slow cores, the chart's with Helm; what is not named
takes a few seconds. What takes longest begins first, so that nothing long is left over at the end.
"""
PATIENT: Final = tuple(
    f"integration/{name}"
    for name in ("deliverer", "lookout", "backbone", "gateway", "accountant", "heartbeat")
)
"""Parts that have the processors for two thirds of their time or less; without Spark they are
small."""
MEMORY_MEBIBYTES: Final = 4000
"""What a part may need: Kafka, Postgres, Spark, and a system of programs."""
SHORT_LIVED: Final = {"JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"}
"""Java's second compiler takes a third of the processor time of a Spark that lives for a test.
Without it Java has room for 48 MiB of code, a fifth: Spark fills it, and compiles what was thrown
out anew. The tests' brokers read this too."""
NO_TESTS: Final = 5
"""pytest's exit code where all tests are deselected."""
EXIT_INTERRUPTED: Final = 130


@dataclass(frozen=True)
class Ended:
    """How one part ended."""

    part: str
    code: int
    seconds: float
    output: str

    @property
    def good(self) -> bool:
        """Whether nothing failed."""
        return self.code in (0, NO_TESTS)


def passed(ended: Sequence[Ended]) -> bool:
    """Return whether nothing failed and something ran: a part may have no test that is asked."""
    return all(each.good for each in ended) and any(each.code != NO_TESTS for each in ended)


def parts(tests: Path = TESTS) -> list[str]:
    """Return the folders that hold all tests, each test in exactly one; the longest first."""
    found = (name for name in _folders(tests) if any((tests / name).rglob("test_*.py")))
    return sorted(found, key=lambda name: -SECONDS.get(name, 0))


def _folders(tests: Path) -> Iterator[str]:
    for folder in sorted(each for each in tests.iterdir() if each.is_dir()):
        if folder.name not in SPLIT:
            yield folder.name
            continue
        yield from (
            f"{folder.name}/{each.name}" for each in sorted(folder.iterdir()) if each.is_dir()
        )


class Runner:
    """Runs parts, and can end those that run."""

    def __init__(self, options: Sequence[str]) -> None:
        self._options = tuple(options)
        self._running: set[subprocess.Popen[bytes]] = set()

    def run(self, part: str) -> Ended:
        """Run one part to its end; parts share no cache of pytest's."""
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(TESTS / part)]
        begun = now_seconds()
        say(f"----- tests/{part} begins\n")
        with TemporaryFile() as output:
            child = subprocess.Popen(
                [*command, *self._options],
                cwd=TESTS.parent,
                env=os.environ | SHORT_LIVED,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            self._running.add(child)
            code = child.wait()
            self._running.discard(child)
            output.seek(0)
            said = output.read().decode(errors="replace")
        return Ended(part, code, now_seconds() - begun, said)

    def interrupt(self, *_: object) -> None:
        """Ask what runs to end, as Ctrl-C does, which reaches them by itself; begin nothing new."""
        for child in list(self._running):
            child.send_signal(signal.SIGINT)
        raise KeyboardInterrupt


def at_once(mebibytes: int, cores: int) -> int:
    """Return how many parts may run side by side on a machine like this.

    Three on two cores took 28.2 minutes where two took 26.8, once each.
    """
    return 2 if cores > 1 and mebibytes >= 2 * MEMORY_MEBIBYTES else 1


def of_this_machine() -> int:
    """Return how many parts may run side by side here."""
    return at_once(memory_mebibytes(), os.cpu_count() or 1)


def run_all(names: Sequence[str], runner: Runner, side_by_side: int) -> list[Ended]:
    """Run parts, and show each as it ends; after an interruption no other begins."""
    ended: list[Ended] = []
    busy = ThreadPoolExecutor(side_by_side)
    patient = ThreadPoolExecutor(1) if side_by_side > 1 else busy
    pools = [patient if name in PATIENT else busy for name in names]
    try:
        runs = [pool.submit(runner.run, name) for pool, name in zip(pools, names, strict=True)]
        for done in as_completed(runs):
            ended.append(done.result())
            show(ended[-1], len(names) - len(ended))
    finally:
        for pool in (busy, patient):
            pool.shutdown(wait=False, cancel_futures=True)
        for pool in (busy, patient):
            pool.shutdown()
    return ended


def show(ended: Ended, left: int) -> None:
    """Show what a part has said."""
    head = f"\n===== tests/{ended.part}: {ended.seconds:.0f} s, {left} parts to go\n"
    say(head + ended.output)


def say(text: str) -> None:
    """Show text at once and whole."""
    sys.stdout.write(text)
    sys.stdout.flush()


def summary(ended: Sequence[Ended]) -> str:
    """Return a line for each part, pytest's own lines of what failed, and what was skipped."""
    lines = ["", "part                          seconds  pytest says"]
    for each in sorted(ended, key=lambda one: -one.seconds):
        last = (each.output.strip().splitlines() or [f"exit code {each.code}"])[-1].strip("= ")
        lines.append(f"{each.part:28} {each.seconds:8.0f}  {last}")
    bad = [each for each in ended if not each.good]
    for each in bad:
        told = [line for line in each.output.splitlines() if line.startswith(("FAILED", "ERROR "))]
        lines += told or [f"tests/{each.part} ended with exit code {each.code}"]
    lines += told_of({each.part: each.output for each in ended})
    lines.append(_verdict(len(bad), ended))
    return "\n".join(lines) + "\n"


def _verdict(bad: int, ended: Sequence[Ended]) -> str:
    if bad:
        return f"{bad} of {len(ended)} parts failed"
    return "all parts passed" if passed(ended) else "no test was run"


def main(arguments: Sequence[str]) -> int:
    """Run everything; return 0 if all passed and something ran, else 1."""
    parser = argparse.ArgumentParser("python -m tests.parts", description=__doc__)
    parser.add_argument("--at-once", type=int, default=of_this_machine(), help="parts side by side")
    parser.add_argument("--only", nargs="+", choices=parts(), default=parts(), help="these parts")
    parsed, options = parser.parse_known_args(arguments)
    runner = Runner(options)
    # A shell starts what it does not wait for deaf to SIGINT, and what we start takes that over; a
    # signal that we handle it has at its default.
    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, signal.default_int_handler),
        signal.SIGTERM: signal.signal(signal.SIGTERM, runner.interrupt),
    }
    try:
        ended = run_all(parsed.only, runner, max(1, parsed.at_once))
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; what ran has ended\n")
        return EXIT_INTERRUPTED
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    sys.stdout.write(summary(ended))
    return 0 if passed(ended) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
