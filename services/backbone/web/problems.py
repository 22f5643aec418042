"""Why a request was not taken, as RFC 9457 problem details."""

from collections.abc import Mapping
from typing import Any, Final

PROBLEM_TYPE: Final = "application/problem+json"
AGAIN_SECONDS: Final = 2
"""When a sender may try again what failed because a store was away."""


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

    def body(self) -> dict[str, Any]:
        """Return the problem details; `reason` is a short word, `detail` a sentence."""
        head = {"title": self.reason, "status": self.status, "detail": self.detail}
        return head | self.members


def unauthorized(detail: str) -> Problem:
    """Return 401: who are you."""
    return Problem(401, "no_valid_key", detail, {"WWW-Authenticate": 'Bearer realm="aldebaran"'})


def too_large(what: str, limit_bytes: int, *, close: bool = False) -> Problem:
    """Return 413; `close` ends the connection instead of reading the rest of the body."""
    detail = f"{what} exceeds the limit of {limit_bytes} bytes; nothing of it was kept"
    headers = {"Connection": "close"} if close else {}
    return Problem(413, "too_large", detail, headers, limit_bytes=limit_bytes)


def away(reason: str, detail: str) -> Problem:
    """Return 503: something that we need does not answer; the same request may work soon."""
    return Problem(503, reason, detail, {"Retry-After": str(AGAIN_SECONDS)})
