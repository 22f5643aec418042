"""Which step of watching a sample of an auditor's processor time belongs to.

A sample is a line of async-profiler's collapsed output: the thread and its frames, outermost first,
between semicolons, then how many samples were the same. Of a task's frames the innermost that
names a step decides, so what a step calls belongs to it: a map that the books look into is theirs.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

TASK: Final = "[Executor task"
ROWS: Final = "generated code and operators"
FRAMES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "fetching from the broker": (
            "org/apache/kafka/clients/consumer/",
            "org/apache/kafka/common/record/",
            "org/apache/spark/sql/kafka010/consumer/",
            "org/apache/spark/sql/kafka010/KafkaBatchPartitionReader",
            "org/apache/spark/sql/kafka010/KafkaRecordToRowConverter",
        ),
        "events from bytes": ("aldebaran/events/",),
        "from task to task": ("aldebaran/shuffle/", "org/apache/spark/shuffle/"),
        "books: the rule": ("aldebaran/books/",),
        "state store": (
            "aldebaran/state/",
            "org/apache/spark/sql/execution/streaming/state/",
            "org/rocksdb/",
        ),
        "alerts: once in a batch": ("aldebaran/alerts/",),
        "alerts to the broker": (
            "org/apache/kafka/clients/producer/",
            "org/apache/spark/sql/kafka010/KafkaRowWriter",
            "org/apache/spark/sql/kafka010/KafkaDataWriter",
            "org/apache/spark/sql/kafka010/KafkaStreamDataWriter",
        ),
        # Comes after the state store, whose classes lie below. Without it whoever pulls the rows
        # at a task's end would have all that happens on their way.
        ROWS: ("org/apache/spark/sql/catalyst/", "org/apache/spark/sql/execution/"),
    }
)
"""What the names of a step's classes begin with."""
THREADS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "[C1 Compiler": "Java's compilers",
        "[C2 Compiler": "Java's compilers",
        "[GC ": "garbage collection",
        "[VM Thread": "garbage collection",
        "[kafka-producer": "alerts to the broker",
    }
)
"""What other threads do, by what their names begin with; the serial collector is VM Thread."""
OTHERS: Final = "other threads of Java"
PYTHON: Final = "Python"


def counted(lines: Iterable[str]) -> Counter[str]:
    """Return how many samples each step has.

    Raises:
        ValueError: a line is not one of the collapsed output.
    """
    found: Counter[str] = Counter()
    for line in lines:
        stack, _, count = line.rpartition(" ")
        thread, *frames = stack.split(";")
        found[_step(thread, frames)] += int(count)
    return found


def _step(thread: str, frames: Sequence[str]) -> str:
    if not thread.startswith(TASK):
        return next((what for name, what in THREADS.items() if thread.startswith(name)), OTHERS)
    steps = (_named(frame) for frame in reversed(frames))
    return next((step for step in steps if step), ROWS)


def _named(frame: str) -> str:
    return next((step for step, names in FRAMES.items() if frame.startswith(names)), "")
