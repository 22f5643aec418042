"""Who may be sent to while how many sends are under way."""

from collections import Counter
from collections.abc import Iterator, Sequence

from services.deliverer.trust import Standing, Trust


class Places:
    """Places for sends at once, `count` of them.

    Where recipients are different systems, one that holds more than one may hold as many as it
    leaves free, and no more: a slow one has half of all, two have a third each. Where very many
    have one each, it is not asked who they are: that costs the ledger more than it saves them.
    Nobody begins more than they have earned, but where several wait in the ledger, of whom it shows
    only at the claim who they are.
    """

    def __init__(self, count: int, per_recipient: bool, trust: Trust) -> None:
        self._per_recipient = per_recipient
        self._may_always = 1 if count > 2 else 0
        self._trust = trust
        self._held: Counter[str] = Counter()
        self.left = count
        """Places that nobody holds."""

    def take(self, destination: str) -> Standing:
        """Hold one place more for a destination, and return how it stands."""
        self.left -= 1
        self._held[destination] += 1
        return self._trust.begin(destination)

    def give_back(self, standing: Standing) -> None:
        """Free the place of a send that began so."""
        standing.end()
        self.left += 1
        self._held[standing.destination] -= 1
        if not self._held[standing.destination]:
            del self._held[standing.destination]

    @property
    def free(self) -> int:
        """How many may be taken now, where it is not asked whom they are for."""
        return self.left if self._per_recipient else min(self.left, self._trust.left(""))

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
