"""Which test proves which line of which channel's promise, read from the tests' own marks.

A test says `@pytest.mark.promise("in_doubt", "slack sms")`: the line, then the channels. In
tests/promises the suite takes its channels from there, so it cannot prove less than it says.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

from services.deliverer.channel import Promise

ROOT: Final = Path(__file__).parents[2]
LINES: Final = tuple(each.name for each in fields(Promise))
UNPROVABLE: Final = frozenset({"not_promised"})
"""What we say that we do not do needs no proof."""
EVERY: Final = "every"
"""In a mark: all channels there are."""


@dataclass(frozen=True, order=True)
class Proof:
    """One test that proves one line of one channel's promise."""

    channel: str
    line: str
    file: str
    test: str


def proofs(channels: tuple[str, ...]) -> list[Proof]:
    """Return what all tests say that they prove.

    Raises:
        ValueError: a mark names no line, or no channel.
    """
    found = []
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        text = file.read_text()
        if ".promise(" in text:
            found += list(_of_file(file.relative_to(ROOT).as_posix(), text, channels))
    return sorted(found)


def named(mark: tuple[str, str], channels: tuple[str, ...]) -> list[str]:
    """Return the channels that a mark names.

    Raises:
        ValueError: it names what is no line or no channel.
    """
    line, words = mark
    wanted = list(channels) if words == EVERY else words.split()
    if line not in LINES or line in UNPROVABLE or not wanted or not {*wanted} <= {*channels}:
        raise ValueError(f"no line of a promise, or no channel: {mark}")
    return wanted


def _of_file(file: str, text: str, channels: tuple[str, ...]) -> Iterator[Proof]:
    module = ast.parse(text)
    of_all = [mark for each in module.body for mark in _marks(_of_whole_file(each))]
    for test in ast.walk(module):
        if not isinstance(test, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        marks = [*_marks(test.decorator_list), *(of_all if test.name.startswith("test_") else [])]
        for mark in marks:
            for channel in named(mark, channels):
                yield Proof(channel, mark[0], file, test.name)


def _of_whole_file(statement: ast.stmt) -> list[ast.expr]:
    """Return what a file's `pytestmark` holds; nothing for other statements."""
    match statement:
        case ast.Assign(targets=[ast.Name(id="pytestmark")], value=ast.List(elts=marks)):
            return marks
        case ast.Assign(targets=[ast.Name(id="pytestmark")], value=mark):
            return [mark]
    return []


def _marks(expressions: Iterable[ast.expr]) -> Iterator[tuple[str, str]]:
    for each in expressions:
        match each:
            case ast.Call(
                func=ast.Attribute(attr="promise"),
                args=[ast.Constant(value=str(line)), ast.Constant(value=str(words))],
            ):
                yield line, words
