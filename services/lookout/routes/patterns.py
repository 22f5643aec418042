"""Patterns in which a sign stands that means something elsewhere, and only itself here."""

import re
from collections.abc import Iterator
from typing import Final

from services.lookout.routes.match_part import MatchPart, Patterns
from services.lookout.routes.nodes import Path as Place
from services.lookout.routes.parts import FilePart
from services.lookout.routes.problems import Finding
from services.lookout.routes.tree import matches

_ONE_OF: Final = re.compile(r"\[[^\]]*\]")


def misread_patterns(part: FilePart) -> Iterator[Finding]:
    """Return patterns that are hardly meant as they are read."""
    for place, match in matches(part):
        for where, patterns in _patterns(match):
            for index, pattern in enumerate(patterns):
                if said := _misread(pattern):
                    yield (*place, *where, index), said


def _patterns(match: MatchPart) -> Iterator[tuple[Place, Patterns]]:
    yield ("watch",), match.watch or ()
    for name, patterns in match.labels.items():
        yield ("labels", name), patterns


def _misread(pattern: str) -> str | None:
    if pattern.startswith("!"):
        return (
            f"{pattern!r} takes what begins with `!`, which does not mean not: say what is taken, "
            "or let a route above take the rest"
        )
    if "|" in _ONE_OF.sub("", pattern):
        parts = ", ".join(each for each in pattern.split("|") if each)
        return f"{pattern!r} takes what has a `|`, which does not mean or: write [{parts}]"
    return None
