"""Who may be sent to while how many sends are under way."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from services.deliverer.trust import Standing, Trust

HELD_LIMIT_CHARACTERS: Final = 4 * 1024 * 1024
"""All records together that are sent at once: held in memory, they take ten times that."""


class Share:
    """So much of something, and who holds how much; nobody is to hold more than they leave."""

    def __init__(self, all_of_it: int) -> None:
        self._held: Counter[str] = Counter()
        self.left = all_of_it
        """What nobody holds; below 0 where the last one took more than there was."""

    def hold(self, destination: str, amount: int) -> None:
        """Take an amount, or give it back where it is below 0."""
        self.left -= amount
        self._held[destination] += amount
        if not self._held[destination]:
            del self._held[destination]

    def held(self, destination: str) -> int:
        """Return how much a destination holds."""
        return self._held[destination]

    @property
    def holders(self) -> set[str]:
        """Return who holds any of it."""
        return set(self._held)

    @property
    def unseen(self) -> int:
        """How much may be taken before it is known for whom: all may come to be for one."""
        left = max(0, self.left)
        most = max((held for held in self._held.values() if held < left), default=0)
        return (left - most + 1) // 2


class Places:
    """Places for sends at once, `count` of them, and room for their records, which are in memory.

    Where recipients are different systems, one that holds more than one may hold as many as it
    leaves free, and no more: a slow one has half of all, two have a third each. So it is with the
    room. Where very many have one each, it is not asked who they are: that costs the ledger more
    than it saves them. Nobody begins more than they have earned, but where several wait in the
    ledger, of whom it shows only at the claim who they are.
    """

    def __init__(self, count: int, per_recipient: bool, trust: Trust) -> None:
        self._per_recipient = per_recipient
        self._may_always = 1 if count > 2 else 0
        self._trust = trust
        self._sends = Share(count)
        self._room = Share(HELD_LIMIT_CHARACTERS)

    def take(self, destination: str, record: str = "") -> Standing:
        """Hold one place more for a destination, and return how it stands."""
        self._sends.hold(destination, 1)
        self._room.hold(destination, len(record))
        return self._trust.begin(destination)

    def give_back(self, standing: Standing, record: str = "") -> None:
        """Free the place of a send that began so."""
        standing.end()
        self._sends.hold(standing.destination, -1)
        self._room.hold(standing.destination, -len(record))

    @property
    def left(self) -> int:
        """Places that nobody holds, as far as there is room for a record."""
        return self._sends.left if self._room.left > 0 else 0

    @property
    def free(self) -> int:
        """How many may be taken now, where it is not asked whom they are for."""
        return self.left if self._per_recipient else min(self.left, self._trust.left(""))

    def full(self) -> set[str]:
        """Return the destinations that hold all that they may."""
        if not self._per_recipient:
            return set()
        return {each for each in self._sends.holders if not self._may_more(each, 0, self.left)}

    @property
    def unseen(self) -> int:
        """How many may be taken before it is known for whom."""
        if not self._per_recipient or not self.left:
            return self.free
        return min(self._sends.unseen, self._trust.most_left)

    @property
    def unseen_characters(self) -> int:
        """How long their records may be together, but for the last one's."""
        return self._room.unseen if self._per_recipient else max(0, self._room.left)

    def fitting(self, destinations: Sequence[str]) -> Iterator[bool]:
        """Tell of each send whether it may have a place beside those before it."""
        more, free = Counter[str](), self.free
        for each in destinations:
            fits = not self._per_recipient or (free > 0 and self._may_more(each, more[each], free))
            if fits and self._per_recipient:
                more[each] += 1
                free -= 1
            yield fits

    def _may_more(self, destination: str, more: int, free: int) -> bool:
        """Tell whether a destination may have one beside what it holds and so many more."""
        held = self._sends.held(destination) + more
        leaves_as_many = held < free and self._room.held(destination) < self._room.left
        return (held <= self._may_always or leaves_as_many) and self._trust.left(destination) > more
