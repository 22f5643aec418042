"""What a routes file declares by name, with the variables filled in."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from services.lookout.routes.parts import FilePart
from services.lookout.routes.send_part import ToPart
from services.lookout.routing import Person, Target
from services.lookout.week_times import WeekTimes

_VARIABLE: Final = re.compile(r"\$\{([^}]*)\}")


def variables_in(text: str) -> list[str]:
    """Return the names of the variables that a text uses."""
    return _VARIABLE.findall(text)


@dataclass(frozen=True)
class Declared:
    """Channels, variables, people and times that the rest of the file may name."""

    channels: frozenset[str]
    variables: Mapping[str, str]
    people: Mapping[str, Person]
    times: Mapping[str, WeekTimes]

    def filled(self, text: str) -> str:
        """Return the text with its variables replaced; one that is unknown stays as written."""
        return _filled(text, self.variables)

    def targets(self, part: ToPart) -> Iterator[tuple[Target, ...]]:
        """Return per recipient or person the first choice and what may stand in for it.

        People and channels that are unknown, or not in use, are left out.
        """
        for recipient in part.to or ():
            yield (Target(part.channel or "", self.filled(recipient)),)
        for name in part.person:
            if name in self.people and (found := self.reach(self.people[name], part.by)):
                yield found

    def reach(self, person: Person, by: Collection[str]) -> tuple[Target, ...]:
        """Return a person's recipients on channels that are in use, in the sequence of `by`.

        All of the person's channels are taken where `by` names none.
        """
        known = {target.channel: target for target in person.targets}
        return tuple(
            known[channel] for channel in (by or known) if channel in known.keys() & self.channels
        )


def declared(part: FilePart, channels: Collection[str], variables: Mapping[str, str]) -> Declared:
    """Return what the file declares; the variables given add to its own or replace them."""
    known = {**part.variables, **variables}
    people = {
        name: Person(name, tuple(Target(each, _filled(to, known)) for each, to in reach.items()))
        for name, reach in part.people.items()
    }
    times = {
        name: WeekTimes(name, tuple(each.part() for each in parts))
        for name, parts in part.times.items()
    }
    return Declared(frozenset(channels), known, people, times)


def _filled(text: str, variables: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda found: variables.get(found[1], found[0]), text)
