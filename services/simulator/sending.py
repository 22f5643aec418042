"""What the run asks of a sender, whichever target it has."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from services.simulator.history import Message
from services.simulator.tally import Outcome


@dataclass(frozen=True, slots=True)
class Settled:
    """Messages with their final outcomes, in the same sequence."""

    messages: Sequence[Message]
    outcomes: Sequence[Outcome]


class Sender(Protocol):
    """Sends batches without waiting for answers, up to a bound; called from one thread."""

    def start(self, batch: Sequence[Message]) -> bool:
        """Start sending; False, and nothing is sent, while too much waits for its answer."""

    def collect(self) -> Iterator[Settled]:
        """Yield what has been settled since the last call; what fails takes no other along.

        Raises:
            Refused: the target will never take anything like this; the message says why.
        """

    def retried(self) -> int:
        """Return how often messages were sent again because the target said: later."""

    def waiting(self) -> int:
        """Return how many batches wait for their answer."""

    def close(self) -> list[Settled]:
        """Stop; return what is still open, as UNKNOWN unless it was settled."""
