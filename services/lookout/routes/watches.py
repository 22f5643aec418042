"""What is known of the declared watches: whose alerts some conditions take, and what those have."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from services.contracts.records import Severity
from services.contracts.watches import RESERVED
from services.lookout.matching import Patterns, any_fits, is_plain
from services.lookout.routes.match_part import MatchPart
from services.lookout.routes.problems import close_to, hint

SLIP: Final = 0.8
"""How much alike two names are of which one may be the other with a slip of a finger."""
NAMED_LIMIT: Final = 3
"""Most watches that a warning names."""

Line = Sequence[MatchPart]
"""Conditions that must all hold: those of a route behind those of the routes around it."""

_LABELS: Final = "labels"
_KEY: Final = "key"
_WORDS: Final = {_LABELS: "label", _KEY: "key", "values": "value"}
_ELSEWHERE: Final = {_LABELS: ": it is a label", _KEY: ": it is in the key"}


@dataclass(frozen=True)
class Raised:
    """What alerts of one watch have."""

    labels: Collection[str] = ()
    key: Collection[str] = ()
    severities: Collection[Severity] = tuple(Severity)

    def has(self, section: str, name: str) -> bool:
        """Tell whether a field is in `labels` or `key`, or may be in `values`.

        Values are the columns of the result that are in neither; only Spark knows their names.
        """
        if section in _ELSEWHERE:
            return name in self.named(section)
        return not any(name in self.named(each) for each in _ELSEWHERE)

    def named(self, section: str) -> Collection[str]:
        """Return the names of the fields in `labels` or `key`."""
        return self.labels if section == _LABELS else self.key


@dataclass(frozen=True)
class Watches:
    """What alerts of each declared watch have."""

    raised: Mapping[str, Raised]
    are_all: bool = True
    """False where watches that are declared elsewhere may run beside these, or instead of them."""

    def slip(self, pattern: str) -> str | None:
        """Return which name may be meant where none fits; None where one does, or may.

        Where others than these watches may run, only what is nearly a name of theirs is a slip.
        """
        if any(any_fits((pattern,), name) for name in (*self.raised, *RESERVED)):
            return None
        if self.are_all:
            return close_to(pattern, self.raised) if is_plain(pattern) else ""
        return _slip(pattern, self.raised)


class Alerts:
    """Tells of the alerts that lines of conditions take which watches raise them."""

    def __init__(self, watches: Watches) -> None:
        self._watches = watches
        self._known: dict[tuple[Patterns, ...], frozenset[str]] = {}

    def lack(self, field: str, *lines: Line) -> str | None:
        """Say that no alert that any of the lines takes has a field such as `labels.zone`.

        None where one has it, or may. Where others than these watches may run, only what is
        nearly a field of theirs is told: what is not is likely meant for one of the others.
        """
        section, _, name = field.partition(".")
        takers = [self._takers(line) for line in lines]
        raised = [self._watches.raised[each] for each in frozenset[str]().union(*takers)]
        if not all(takers) or any(each.has(section, name) for each in raised):
            return None
        near = self._near(section, name, raised)
        return None if near is None else f"no {_whose(lines)} has {_WORDS[section]} {name}{near}"

    def lack_severity(self, line: Line) -> str | None:
        """Say that the watches which a line names raise no alert of a severity that it asks for.

        None where they do, or may: by a wildcard a route may be meant for watches to come.
        """
        asked, wanted = _asked(line), _wanted(line)
        if not self._watches.are_all or not asked or not all(map(is_plain, asked[-1])):
            return None
        takers = [self._watches.raised[each] for each in self._takers(line)]
        raised = {each for one in takers for each in one.severities}
        if not raised or not wanted or wanted & raised:
            return None
        return f"no {_whose([line])} is {_any(wanted)}, only {_any(raised)}"

    def _takers(self, line: Line) -> frozenset[str]:
        """Return the declared watches whose alerts a line may take; none where there may be more
        that are not known."""
        asked = _asked(line)
        if asked not in self._known:
            self._known[asked] = self._look(asked)
        return self._known[asked]

    def _look(self, asked: tuple[Patterns, ...]) -> frozenset[str]:
        declared = self._watches.raised
        if self._watches.are_all:
            own = asked[-1] if asked else ()
            known = all(_all_fit([(each,)], declared) for each in own)
            known = known and not (asked and _all_fit(asked, RESERVED))
        else:
            known = bool(asked) and all(each in declared for own in asked for each in own)
        return _all_fit(asked, declared) if known else frozenset()

    def _near(self, section: str, name: str, raised: Sequence[Raised]) -> str | None:
        known = {each for one in raised for each in one.named(section)}
        if not self._watches.are_all:
            return _slip(name, known) if section in _ELSEWHERE else None
        for other, said in _ELSEWHERE.items():
            if other != section and any(name in one.named(other) for one in raised):
                return said
        return hint(name, known)


def _asked(line: Line) -> tuple[Patterns, ...]:
    return tuple(each.watch for each in line if each.watch)


def _wanted(line: Line) -> frozenset[Severity]:
    asked = [frozenset(each.severity) for each in line if each.severity]
    return frozenset(Severity).intersection(*asked)


def _whose(lines: Sequence[Line]) -> str:
    """Name the watches that the innermost conditions ask for."""
    asked = [_asked(line) for line in lines]
    if not all(asked):
        return "declared watch"
    names = list(dict.fromkeys(name for each in asked for name in each[-1]))
    more = ["another"] if len(names) > NAMED_LIMIT else []
    return "alert of " + " or ".join(names[:NAMED_LIMIT] + more)


def _any(severities: Collection[Severity]) -> str:
    return " or ".join(each for each in Severity if each in severities)


def _all_fit(asked: Iterable[Patterns], names: Collection[str]) -> frozenset[str]:
    return frozenset(name for name in names if all(any_fits(each, name) for each in asked))


def _slip(word: str, known: Collection[str]) -> str | None:
    """Name the known word of which this one is a slip; None if it is one of its own."""
    near = [each for each in known if abs(len(each) - len(word)) <= 1]
    return close_to(word, near, SLIP) or None
