"""Which visits a run has still to make: a long section may be measured in parts."""

import argparse
import sys
import time
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from services.contracts.streams import load_streams, stream_topics
from services.contracts.topics import Topic, core_topics
from services.machine.problems import MachineProblem
from tests.bench.drain import STREAM
from tests.bench.engine import Unavailable
from tests.bench.latency import ECHO
from tests.bench.report import Report, Skipped
from tests.bench.rounds import there_and_back

NOT_MEASURED = (Unavailable, MachineProblem, RuntimeError, TimeoutError)
"""What one row may raise without ending the others; the report tells it."""

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Course:
    """What is asked of this run; it begins no visit after `until_seconds` of the monotonic clock.

    `resumes` is whether the rows that stand in the report are of this very command.
    """

    told: argparse.Namespace
    resumes: bool
    until_seconds: float

    def kept(self, rows: list[Row]) -> list[Row]:
        """Return the rows to go on from."""
        return rows if self.resumes else []

    def visits(
        self, names: Sequence[str], made: Container[tuple[str, int]]
    ) -> Iterator[tuple[str, int]]:
        """Yield (name, number) of each visit that is still to be made, there and back."""
        for visit in there_and_back(names, self.told.visits):
            if visit in made:
                continue
            if time.monotonic() > self.until_seconds:
                say("the time is over; the same command with --resume goes on from here")
                return
            yield visit


@contextmanager
def attempt(report: Report, section: str, name: str) -> Iterator[None]:
    """Measure one row in the block; where that cannot be done, note why and go on behind it."""
    try:
        yield
    except NOT_MEASURED as missing:
        say(f"  not measured: {missing}")
        skipped = Skipped(name, str(missing))
        if skipped not in report.skipped.setdefault(section, []):
            report.skipped[section].append(skipped)


def bench_topics(partitions: int | None = None) -> list[Topic]:
    """Return the stream's, the core's and the echo topic."""
    declared = load_streams()[STREAM]
    stream = declared.model_copy(update={"partitions": partitions or declared.partitions})
    return [*stream_topics(stream), *core_topics([]), Topic(ECHO)]


def say(what: str) -> None:
    """Tell the person at the terminal what is going on."""
    sys.stderr.write(f"bench: {what}\n")
