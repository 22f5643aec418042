"""What the bench asks of everything it measures: a row is an engine behind this small protocol."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import psutil

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "spark-apps" / "auditor" / "watches" / "over-purchase.yaml"


class Unavailable(Exception):
    """This machine lacks what an engine needs; the message says what, and how to get it."""


@dataclass(frozen=True, slots=True)
class Scene:
    """Where an engine runs.

    `home` is a folder of the engine's own, `watch` the rule, `batch_seconds` how long batches last
    or how far checkpoints are apart, `partitions` how many the stream has, `settings` more for our
    own engines.
    """

    bootstrap: str
    home: Path
    watch: Path = SHIPPED
    batch_seconds: float = 10.0
    partitions: int = 2
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Usage:
    """What a component has used so far."""

    cpu_seconds: float
    memory_mebibytes: int


@dataclass(frozen=True, slots=True)
class Kill:
    """A part of an engine was killed, and started again, at these times of the monotonic clock.

    `who` is the part's name in the alerts that it raises.
    """

    who: str
    at_ns: int
    started_ns: int


class Engine(Protocol):
    """A running engine: reads the stream, writes alerts."""

    def usage(self) -> Usage:
        """Return the processor time so far and the memory now, of all its processes."""

    def boundaries_ns(self) -> list[int]:
        """Return when its batches or checkpoints ended, on the monotonic clock; none if unknown."""

    def killing(self, seconds: float) -> AbstractContextManager[Sequence[Kill]]:
        """Kill what the row says is killed while the block lasts, about `seconds`; yield the kills.

        They are complete behind the block, and then the engine is whole again.
        """


Start = Callable[[Scene], AbstractContextManager[Engine]]
"""Starts an engine, yields it once it is ready, stops it at the end of the block.

Raises Unavailable where the machine lacks something.
"""


def usage_of(processes: Sequence[psutil.Process]) -> Usage:
    """Return what these processes and their children have used; who ends meanwhile is left out."""
    seen = [each for one in processes for each in _family(one)]
    return Usage(sum(cpu for cpu, _ in seen), sum(memory for _, memory in seen) // 2**20)


def _family(process: psutil.Process) -> Iterator[tuple[float, int]]:
    for each in (process, *process.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            yield sum(each.cpu_times()[:2]), each.memory_info().rss
