"""Who may be sent to while how many sends are under way."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from services.deliverer.trust import Standing, Trust

HELD_LIMIT_CHARACTERS: Final = 4 * 1024 * 1024
"""All records together that are sent at once, but for those of the last claim."""


class Places:
    """Places for sends at once, `count` of them.

    Where recipients are different systems, one that holds more than one may hold as many as it
    leaves free, and no more: a slow one has half of all, two have a third each. Where very many
    have one each, it is not asked who they are: that costs the ledger more than it saves them.
    Nobody begins more than they have earned, but where several wait in the ledger, of whom it shows
    only at the claim who they are.

    A long record takes several places, since all are held in memory: then none may be left before
    so many sends are under way, or less than none.
    """

    def __init__(self, count: int, per_recipient: bool, trust: Trust) -> None:
        self._count = count
        self._per_recipient = per_recipient
        self._may_always = 1 if count > 2 else 0
        self._trust = trust
        self._held: Counter[str] = Counter()
        self.left = count
        """Places that nobody holds; below 0 where the last records were long."""

    def take(self, destination: str, record: str = "") -> Standing:
        """Hold the places of one record more for a destination, and return how it stands."""
        taken = self._taken_by(record)
        self.left -= taken
        self._held[destination] += taken
        return self._trust.begin(destination)

    def give_back(self, standing: Standing, record: str = "") -> None:
        """Free the places of a send that began so."""
        standing.end()
        taken = self._taken_by(record)
        self.left += taken
        self._held[standing.destination] -= taken
        if not self._held[standing.destination]:
            del self._held[standing.destination]

    def _taken_by(self, record: str) -> int:
        return 1 + len(record) * self._count // HELD_LIMIT_CHARACTERS

    @property
    def free(self) -> int:
        """How many may be taken now, where it is not asked whom they are for."""
        left = max(0, self.left)
        return left if self._per_recipient else min(left, self._trust.left(""))

    def full(self) -> set[str]:
        """Return the destinations that hold all that they may."""
        if not self._per_recipient:
            return set()
        return {each for each in self._held if not self._has_room(each, 0, self.left)}

    @property
    def unseen(self) -> int:
        """How many may be taken before it is known for whom: all may come to be for one."""
        if not self._per_recipient:
            return self.free
        most = max((held for held in self._held.values() if held < self.free), default=0)
        return min((self.free - most + 1) // 2, self._trust.most_left)

    def fitting(self, destinations: Sequence[str]) -> Iterator[bool]:
        """Tell of each send whether it may have a place beside those before it."""
        more, free = Counter[str](), self.free
        for each in destinations:
            fits = not self._per_recipient or (free > 0 and self._has_room(each, more[each], free))
            if fits and self._per_recipient:
                more[each] += 1
                free -= 1
            yield fits

    def _has_room(self, destination: str, more: int, free: int) -> bool:
        """Tell whether a destination may have one beside what it holds and so many more."""
        held = self._held[destination] + more
        leaves_as_many = held <= self._may_always or held < free
        return leaves_as_many and self._trust.left(destination) > more
