"""Who may be sent to while how many sends are under way."""

from collections import Counter
from collections.abc import Iterator, Sequence


class Places:
    """Places for sends at once, `count` of them.

    Where recipients are different systems, one that holds more than one may hold as many as it
    leaves free, and no more: a slow one has half of all, two have a third each. Where very many
    have one each, it is not asked who they are: that costs the ledger more than it saves them.
    """

    def __init__(self, count: int, per_recipient: bool) -> None:
        self._per_recipient = per_recipient
        self._may_always = 1 if count > 2 else 0
        self._held: Counter[str] = Counter()
        self.free = count

    def take(self, destination: str) -> None:
        """Hold one place more for a destination."""
        self.free -= 1
        self._held[destination] += 1

    def give_back(self, destination: str) -> None:
        """Free one place of a destination."""
        self.free += 1
        self._held[destination] -= 1
        if not self._held[destination]:
            del self._held[destination]

    def full(self) -> set[str]:
        """Return the destinations that hold all that they may."""
        if not self._per_recipient:
            return set()
        return {each for each, held in self._held.items() if not self._has_room(held, self.free)}

    @property
    def unseen(self) -> int:
        """How many may be taken before it is known for whom: all may come to be for one."""
        if not self._per_recipient:
            return self.free
        most = max((held for held in self._held.values() if held < self.free), default=0)
        return (self.free - most + 1) // 2

    def fitting(self, destinations: Sequence[str]) -> Iterator[bool]:
        """Tell of each send whether it may have a place beside those before it."""
        held, free = self._held.copy(), self.free
        for each in destinations:
            fits = not self._per_recipient or (free > 0 and self._has_room(held[each], free))
            if fits and self._per_recipient:
                held[each] += 1
                free -= 1
            yield fits

    def _has_room(self, held: int, free: int) -> bool:
        return held <= self._may_always or held < free
