"""Why a sender's events were not taken."""

from typing import Final

from services.backbone.web.problems import Problem

BUSY_SECONDS: Final = 1
"""When a sender may try again what found no room."""


class Busy(Problem):
    """429: the same request is welcome a little later."""

    def __init__(self, detail: str, key: str, fullest: str) -> None:
        super().__init__(429, "busy", detail, {"Retry-After": str(BUSY_SECONDS)})
        self.key = key
        """The name of the key whose request it was."""
        self.fullest = fullest
        """The name of the key that holds most, which is for our log only."""


class NotOpen(Problem):
    """403: the key is none for this stream."""

    def __init__(self, key: str, stream: str) -> None:
        super().__init__(403, "stream_not_open", f"the key {key} is not for stream {stream}")
        self.key = key
        """The key's name."""


def too_many_events(count: int, limit: int) -> Problem:
    """Return 413 for a body of too many events."""
    detail = f"{count} events in one request, at most {limit}; nothing was kept"
    return Problem(413, "too_many_events", detail, limit_events=limit)


def bug() -> Problem:
    """Return 500: a mistake of ours, of which the log has the trace."""
    return Problem(500, "bug", "we made a mistake; it is not known whether events were kept")
