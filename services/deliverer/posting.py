"""What channels over HTTP have in common: when the first byte leaves, what a failure proves.

The HTTP client reports its phases, so "nothing had left yet" is known and not guessed.
"""

from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any, Final

import httpx2
import orjson

from services.deliverer.channel import SendWindow
from services.deliverer.outcomes import Outcome, Refused, Unknown

REASON_LIMIT: Final = 200
"""Characters of what a provider said that are kept in a reason."""
ANSWER_LIMIT_BYTES: Final = 64 * 1024
_FIRST_BYTES: Final = ("http11.send_request_headers.started", "http2.send_request_headers.started")

Trace = Callable[[str, Mapping[str, Any]], Awaitable[None]]


def opens(window: SendWindow) -> Trace:
    """Return the client's hook that opens the window at the request's first byte."""

    async def trace(event: str, _: Mapping[str, Any]) -> None:
        if event in _FIRST_BYTES:
            window.open()

    return trace


def failed(error: httpx2.TransportError, window: SendWindow) -> Outcome:
    """Sort a request that got no answer."""
    reason = f"{type(error).__name__}: {error}"[:REASON_LIMIT]
    if window.opened:
        return Unknown(reason)
    return Refused(reason, destination_down=True)


async def answer_object(
    response: httpx2.Response, limit_bytes: int = ANSWER_LIMIT_BYTES
) -> dict[str, Any]:
    """Read the answer as a JSON object; empty if it is none, is too large or does not come."""
    try:
        found = orjson.loads(await answer_bytes(response, limit_bytes))
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


async def answer_bytes(response: httpx2.Response, limit_bytes: int = ANSWER_LIMIT_BYTES) -> bytes:
    """Read the answer and end it; empty if it is too large or does not come whole."""
    content = b""
    try:
        async for chunk in response.aiter_bytes():
            content += chunk
            if len(content) > limit_bytes:
                return b""
    except (httpx2.TransportError, httpx2.DecodingError):
        return b""
    finally:
        await response.aclose()
    return content


def retry_after_seconds(value: str | None, now_ms: int) -> float | None:
    """Read a Retry-After header, in seconds or as a date; None if absent or not readable."""
    if value is None:
        return None
    if value.strip().isdecimal():
        return float(value.strip()[:9])
    try:
        at = parsedate_to_datetime(value)
    except ValueError:
        return None
    zoned = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, zoned.timestamp() - now_ms / 1000)
