"""The example messages, for every producer's and consumer's tests."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

EXAMPLES: Final = Path(__file__).parent / "examples"


@dataclass(frozen=True, slots=True)
class Example:
    """One example message: its topic, the folder that says what it shows, its bytes."""

    topic: str
    kind: str
    name: str
    content: bytes

    def __str__(self) -> str:
        return f"{self.topic}/{self.kind}/{self.name}"


def examples(topic: str = "*", kind: str = "*") -> Iterator[Example]:
    """Yield the examples of a topic and kind in a fixed sequence; `*` stands for any."""
    for path in sorted(EXAMPLES.glob(f"{topic}/{kind}/*.json")):
        shown = path.parent
        yield Example(shown.parent.name, shown.name, path.stem, path.read_bytes())
