"""Why a sender's events were not taken."""

from services.backbone.web.problems import Problem


def too_many_events(count: int, limit: int) -> Problem:
    """Return 413 for a body of too many events."""
    detail = f"{count} events in one request, at most {limit}; nothing was kept"
    return Problem(413, "too_many_events", detail, limit_events=limit)


def busy(detail: str, *, retry_after_seconds: int = 1) -> Problem:
    """Return 429: the same request is welcome a little later."""
    return Problem(429, "busy", detail, {"Retry-After": str(retry_after_seconds)})


def bug() -> Problem:
    """Return 500: a mistake of ours, of which the log has the trace."""
    return Problem(500, "bug", "we made a mistake; it is not known whether events were kept")
