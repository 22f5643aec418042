"""Who may be sent to while how many sends are under way."""

from collections import Counter
from collections.abc import Iterator, Sequence

from services.deliverer.trust import Trust


class Places:
    """Places for sends at once, `count` of them.

    Where recipients are different systems, one that holds more than one may hold as many as it
    leaves free, and no more: a slow one has half of all, two have a third each. Where very many
    have one each, it is not asked who they are: that costs the ledger more than it saves them.
    None holds more than it has earned.
    """

    def __init__(self, count: int, per_recipient: bool, trust: Trust) -> None:
        self._per_recipient = per_recipient
        self._may_always = 1 if count > 2 else 0
        self._trust = trust
        self._held: Counter[str] = Counter()
        self.left = count
        """Places that nobody holds."""

    def take(self, destination: str) -> None:
        """Hold one place more for a destination."""
        self.left -= 1
        self._held[destination] += 1

    def give_back(self, destination: str) -> None:
        """Free one place of a destination."""
        self.left += 1
        self._held[destination] -= 1
        if not self._held[destination]:
            del self._held[destination]

    @property
    def free(self) -> int:
        """How many may be taken now, where it is not asked whom they are for."""
        return self.left if self._per_recipient else min(self.left, self._earned_left(""))

    def full(self) -> set[str]:
        """Return the destinations that hold all that they may."""
        if not self._per_recipient:
            return set()
        left = self.left
        return {each for each, held in self._held.items() if not self._has_room(each, held, left)}

    @property
    def unseen(self) -> int:
        """How many may be taken before it is known for whom: all may come to be for one."""
        if not self._per_recipient:
            return self.free
        most = max((held for held in self._held.values() if held < self.free), default=0)
        having_room = self._held.keys() - self.full()
        earned = min(map(self._earned_left, having_room), default=self._trust.first)
        return min((self.free - most + 1) // 2, earned, self._trust.first)

    def fitting(self, destinations: Sequence[str]) -> Iterator[bool]:
        """Tell of each send whether it may have a place beside those before it."""
        held, free = self._held.copy(), self.free
        for each in destinations:
            fits = not self._per_recipient or (free > 0 and self._has_room(each, held[each], free))
            if fits and self._per_recipient:
                held[each] += 1
                free -= 1
            yield fits

    def _has_room(self, destination: str, held: int, free: int) -> bool:
        leaves_as_many = held <= self._may_always or held < free
        return leaves_as_many and held < self._trust.at_once(destination)

    def _earned_left(self, destination: str) -> int:
        return max(0, self._trust.at_once(destination) - self._held[destination])
