"""How many sends at once a destination has earned by its answers."""

from dataclasses import dataclass

from services.deliverer.breaker import DESTINATIONS_LIMIT
from services.deliverer.outcomes import Accepted, Outcome, Permanent, Refused, Unknown


@dataclass(slots=True)
class Standing:
    """What a destination has earned since its breaker was open, and its sends of that time."""

    destination: str
    earned: int
    under_way: int = 0

    @property
    def left(self) -> int:
        """How many sends more may begin."""
        return max(0, self.earned - self.under_way)

    def end(self) -> None:
        """Note that one of these sends is over."""
        self.under_way -= 1


class Trust:
    """Sends that may be under way to a destination: `first`, and one more with each answer.

    All that is under way when a destination turns out to be silent comes to be in doubt. So one
    that is not known to answer gets no more than open its breaker; with one more for each answer
    that is twice as many after each round, until it has `most` (slow start, RFC 5681 section 3.1).
    Each send without an answer is one less, so that none takes the place of what failed.

    Whose breaker has been open begins anew, and what hangs since before that is neither counted nor
    heeded when it ends: others may be well by then. Whoever answered last keeps what it has earned,
    however long that was ago; beyond DESTINATIONS_LIMIT who has been asked least lately is
    forgotten.
    """

    def __init__(self, first: int, most: int) -> None:
        self._first = min(first, most)
        self._most = most
        self._standings: dict[str, Standing] = {}

    def left(self, destination: str) -> int:
        """Return how many sends more may begin there."""
        standing = self._standings.get(destination)
        return self._first if standing is None else standing.left

    @property
    def most_left(self) -> int:
        """How many sends may begin where it is not known yet whom they are for.

        It is what one destination at least may be sent, of those that are known and may be sent any
        at all; which of them, and whether it is one that nobody knows, shows when they are claimed.
        """
        known = max((each.left for each in self._standings.values()), default=0)
        return known or self._first

    def begin(self, destination: str) -> Standing:
        """Note a send to there, and return where what comes of it is to be noted."""
        standing = self._standings.pop(destination, None) or Standing(destination, self._first)
        self._standings[destination] = standing
        if len(self._standings) > DESTINATIONS_LIMIT:
            del self._standings[next(iter(self._standings))]
        standing.under_way += 1
        return standing

    def note(
        self, standing: Standing, outcome: Outcome, *, has_left: bool, is_closed: bool
    ) -> None:
        """Learn from what came of a send, of which bytes may have left, and from the breaker."""
        if not is_closed:
            self._standings.pop(standing.destination, None)
            return
        match outcome:
            case Unknown() | Refused(destination_down=True):
                standing.earned = max(1, standing.earned - 1)
            case Accepted() | Permanent() | Refused(own_pace=False) if has_left:
                standing.earned = min(self._most, standing.earned + 1)
