"""One message after the other to each conversation: turns are given out, none is dropped."""

from typing import Final

CONVERSATIONS_LIMIT: Final = 1000
"""Conversations whose last turn is remembered."""


class Pace:
    """Gives each message its turn; times in monotonic seconds.

    A turn that is too far ahead is not waited for: the message comes again, at a time of its own.
    Then it goes before those that come for the first time, which line up behind all that wait.
    """

    def __init__(self, seconds_between: float) -> None:
        self._between = seconds_between
        self._free_at: dict[str, float] = {}
        self._end_at: dict[str, float] = {}
        """When the conversation is free behind all that were told to come again."""

    def turn(
        self, conversation: str, now: float, patience_seconds: float, came_before: bool
    ) -> tuple[bool, float]:
        """Return whether there is a turn within the patience, and in how many seconds.

        Without a turn, the seconds tell when to come again.
        """
        free_at = max(now, self._free_at.get(conversation, now))
        end_at = max(free_at, self._end_at.get(conversation, now))
        if free_at - now > patience_seconds or (end_at > free_at and not came_before):
            _note(self._end_at, conversation, end_at + self._between, now)
            return False, end_at - now
        _note(self._free_at, conversation, free_at + self._between, now)
        return True, free_at - now


def _note(times: dict[str, float], conversation: str, at: float, now: float) -> None:
    times[conversation] = at
    if len(times) > CONVERSATIONS_LIMIT:
        for key in [key for key, time in times.items() if time <= now]:
            del times[key]
