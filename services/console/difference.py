"""What changed between two texts, line by line, as people read it."""

import difflib
from dataclasses import dataclass
from typing import Final, Literal

LINES_LIMIT: Final = 4000
"""Longer texts are not compared: it would take too long."""
AROUND: Final = 3

Kind = Literal["added", "gone", "same", "place"]
_KINDS: Final[dict[str, Kind]] = {"+": "added", "-": "gone", " ": "same", "@": "place"}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a difference; a `place` tells where the lines after it stand."""

    kind: Kind
    text: str


def difference(before: str | None, after: str) -> list[Line] | None:
    """Return the changed lines with some around them.

    None where there was nothing before, and where the texts are too long.
    """
    if before is None:
        return None
    old, new = before.splitlines(), after.splitlines()
    if len(old) + len(new) > LINES_LIMIT:
        return None
    told = difflib.unified_diff(old, new, n=AROUND, lineterm="")
    return [_line(each) for each in list(told)[2:]]


def _line(told: str) -> Line:
    kind = _KINDS[told[0]]
    return Line(kind, told if kind == "place" else told[1:])
