"""What a reader has settled and not yet committed, and when that is to be committed.

A commit costs broker and client as much as a record, so there is one for all that was settled in a
while. None is made between a trouble with the brokers and the next sign that the group counts on
this member: one that reaches its coordinator without the newest member's id ends a named client.
"""

import math
from typing import Final

EVERY_SECONDS: Final = 0.2
"""Between two commits; what was settled meanwhile comes again if the reader dies."""

Place = tuple[str, int]
"""Topic and partition."""
Ends = dict[Place, int]
"""By topic and partition, the offset after the last record."""


class Settled:
    """Ends of what is settled; time is passed in, in seconds that never go back."""

    def __init__(self) -> None:
        self._ends: Ends = {}
        self._next_at = -math.inf
        self._is_trusted = False

    def note(self, ends: Ends) -> None:
        """Note that everything before these ends is settled."""
        self._ends |= ends

    def is_time(self, now_seconds: float) -> bool:
        """Tell whether there is something to commit, and it is time."""
        return bool(self._ends) and now_seconds >= self._next_at

    def due(self, now_seconds: float) -> Ends:
        """Return what is to be committed now, each end once; often nothing."""
        if not self._is_trusted or not self.is_time(now_seconds):
            return {}
        self._next_at = now_seconds + EVERY_SECONDS
        return self._taken()

    def last(self) -> Ends:
        """Return what is to be committed before partitions are given away, if that may be done."""
        ends = self._taken()
        return ends if self._is_trusted else {}

    def trust(self) -> None:
        """A record or a partition came: the group counts on this member."""
        self._is_trusted = True

    def distrust(self) -> None:
        """Brokers are away, or the member was put out: whoever asks first may be a stranger."""
        self._is_trusted = False

    def _taken(self) -> Ends:
        ends, self._ends = self._ends, {}
        return ends
