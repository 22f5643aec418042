"""How many sends at once a destination has earned by its answers."""

from services.deliverer.breaker import DESTINATIONS_LIMIT
from services.deliverer.outcomes import Outcome, Refused, Unknown


class Trust:
    """Sends that may be under way to a destination: `first`, and one more with each answer.

    All that is under way when a destination turns out to be silent comes to be in doubt. So one
    that is not known to answer gets no more than open its breaker; with one more for each answer
    that is twice as many after each round, until it has `most` (slow start, RFC 5681 section 3.1).
    Whose breaker has been open begins anew; whoever answered last keeps what it has earned, however
    long that was ago.
    """

    def __init__(self, first: int, most: int) -> None:
        self.first = min(first, most)
        self._most = most
        self._earned: dict[str, int] = {}

    def at_once(self, destination: str) -> int:
        """Return how many sends may be under way there."""
        return self._earned.get(destination, self.first)

    def note(self, destination: str, outcome: Outcome, is_closed: bool) -> None:
        """Learn from what came of a send, and whether the breaker lets others through since.

        Beyond DESTINATIONS_LIMIT, who has not answered for the longest time begins anew.
        """
        if not is_closed:
            self._earned.pop(destination, None)
        elif _is_answer(outcome):
            earned = self._earned.pop(destination, self.first)
            self._earned[destination] = min(self._most, earned + 1)
            if len(self._earned) > DESTINATIONS_LIMIT:
                del self._earned[next(iter(self._earned))]


def _is_answer(outcome: Outcome) -> bool:
    match outcome:
        case Unknown():
            return False
        case Refused(destination_down=down, own_pace=own):
            return not (down or own)
        case _:
            return True
