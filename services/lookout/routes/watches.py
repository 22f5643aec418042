"""Conditions held against the declared watches: names that none has, labels that no alert has."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from services.contracts.watches import RESERVED
from services.lookout.matching import any_fits, is_plain
from services.lookout.routes.match_part import MatchPart
from services.lookout.routes.parts import FilePart
from services.lookout.routes.problems import Finding, close_to, hint
from services.lookout.routes.tree import lines

SLIP: Final = 0.8
"""How much alike two names are of which one may be the other with a slip of a finger."""


@dataclass(frozen=True)
class Watches:
    """The labels that alerts of each declared watch have."""

    labels: Mapping[str, Collection[str]]
    are_all: bool = True
    """False where watches that are declared elsewhere may run beside these, or instead of them."""


def unmet(part: FilePart, watches: Watches) -> Iterator[Finding]:
    """Return what no alert of a watch can meet.

    Where others than these watches may run, only what is nearly a name of theirs is told: what is
    no name of theirs at all is likely meant for one of the others.
    """
    for place, line in lines(part):
        for index, pattern in enumerate(line[-1].watch or ()):
            if (near := _no_watch(pattern, watches)) is not None:
                yield (*place, "watch", index), f"no declared watch is {pattern}{near}"
        for label in line[-1].labels:
            if (near := _no_label(label, line, watches)) is not None:
                meant = " or ".join(next(each.watch for each in reversed(line) if each.watch))
                yield (*place, "labels", label), f"no alert of {meant} has label {label}{near}"


def _no_watch(pattern: str, watches: Watches) -> str | None:
    """Return which name may be meant where none fits; None where one does, or may."""
    if any(any_fits((pattern,), name) for name in (*watches.labels, *RESERVED)):
        return None
    if watches.are_all:
        return close_to(pattern, watches.labels) if is_plain(pattern) else ""
    return _slip(pattern, watches.labels)


def _no_label(label: str, line: Sequence[MatchPart], watches: Watches) -> str | None:
    """Return which label may be meant where no alert has this one; None where one has, or may."""
    asked = [each.watch for each in line if each.watch]
    if not asked or _all_fit(asked, RESERVED):
        return None
    fitting = _all_fit(asked, watches.labels)
    known = {each for name in fitting for each in watches.labels[name]}
    if not fitting or label in known:
        return None
    if watches.are_all:
        return hint(label, known)
    named = all(is_plain(pattern) for each in asked for pattern in each)
    return _slip(label, known) if named else None


def _all_fit(asked: Sequence[Sequence[str]], names: Collection[str]) -> list[str]:
    return [name for name in names if all(any_fits(patterns, name) for patterns in asked)]


def _slip(word: str, known: Collection[str]) -> str | None:
    """Name the known word of which this one is a slip; None if it is one of its own."""
    near = [each for each in known if abs(len(each) - len(word)) <= 1]
    return close_to(word, near, SLIP) or None
