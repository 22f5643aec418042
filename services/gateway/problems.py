"""Why a request was not taken, as RFC 9457 problem details."""

from collections.abc import Mapping

PROBLEM_TYPE = "application/problem+json"


class Problem(Exception):
    """A request that is answered at once, with nothing kept of it."""

    def __init__(
        self,
        status: int,
        reason: str,
        detail: str,
        headers: Mapping[str, str] | None = None,
        **members: object,
    ) -> None:
        super().__init__(f"{reason}: {detail}")
        self.status = status
        self.reason = reason
        self.detail = detail
        self.headers = dict(headers or {})
        self.members = members


def unauthorized(detail: str) -> Problem:
    """Return 401: who are you."""
    return Problem(401, "no_valid_key", detail, {"WWW-Authenticate": 'Bearer realm="aldebaran"'})


def too_large(what: str, limit_bytes: int, *, close: bool = False) -> Problem:
    """Return 413; `close` ends the connection instead of reading the rest of the body."""
    detail = f"{what} exceeds the limit of {limit_bytes} bytes; nothing of it was kept"
    headers = {"Connection": "close"} if close else {}
    return Problem(413, "too_large", detail, headers, limit_bytes=limit_bytes)


def too_many_events(count: int, limit: int) -> Problem:
    """Return 413 for a body of too many events."""
    detail = f"{count} events in one request, at most {limit}; nothing was kept"
    return Problem(413, "too_many_events", detail, limit_events=limit)


def busy(detail: str, *, retry_after_seconds: int = 1) -> Problem:
    """Return 429: the same request is welcome a little later."""
    return Problem(429, "busy", detail, {"Retry-After": str(retry_after_seconds)})
