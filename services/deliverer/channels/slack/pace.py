"""One message after the other to each conversation: turns are given out, none is dropped."""

from typing import Final

CONVERSATIONS_LIMIT: Final = 1000
"""Conversations whose last turn is remembered."""


class Pace:
    """Gives each message its turn; times in monotonic seconds."""

    def __init__(self, seconds_between: float) -> None:
        self._between = seconds_between
        self._free_at: dict[str, float] = {}

    def turn(self, conversation: str, now: float, patience_seconds: float) -> tuple[bool, float]:
        """Return whether there is a turn within the patience, and in how many seconds.

        Without a turn, the seconds tell when the conversation may be free again.
        """
        wait = max(0.0, self._free_at.get(conversation, now) - now)
        if wait > patience_seconds:
            return False, wait
        self._free_at[conversation] = now + wait + self._between
        if len(self._free_at) > CONVERSATIONS_LIMIT:
            self._free_at = {key: at for key, at in self._free_at.items() if at > now}
        return True, wait
