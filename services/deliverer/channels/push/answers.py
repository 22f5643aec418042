"""What Apple's answers, and its silence, mean."""

from collections.abc import Mapping
from typing import Any, Final

import httpx2
from h2.errors import ErrorCodes
from h2.events import ConnectionTerminated, StreamReset

from services.deliverer.channel import SendWindow
from services.deliverer.channels.push.stream import Stream
from services.deliverer.outcomes import Accepted, Outcome, Permanent, Refused, Unknown
from services.deliverer.posting import REASON_LIMIT, failed, trouble_of

_RENEWABLE: Final = frozenset({"ExpiredProviderToken", "InvalidProviderToken"})
"""Reasons of a 403 that a newly signed token may heal."""
_AUTH_ADVICE: Final = "check push_key, push_key_id, push_team_id, push_topic and this clock"
_NOT_TAKEN: Final = frozenset({429, 500, 503})


def asks_for_renewal(status: int, said: Mapping[str, Any]) -> bool:
    """Tell whether Apple refused the token, and not what it was shown for."""
    reason = said.get("reason")
    return status == 403 and isinstance(reason, str) and reason in _RENEWABLE


def reason_of(status: int, said: Mapping[str, Any]) -> str:
    """Return Apple's answer in words."""
    return f"APNs answered {status} {said.get('reason', '')}".strip()[:REASON_LIMIT]


def answered(
    status: int, said: Mapping[str, Any], apns_id: str, retry_after: float | None
) -> Outcome:
    """Sort an answer; `said` is its JSON body, or empty."""
    reason = reason_of(status, said)
    if status == 200:
        return Accepted(apns_id[:REASON_LIMIT])
    if status in _NOT_TAKEN:
        return Refused(reason, retry_after, destination_down=status != 429)
    if status == 403:
        return Refused(f"{reason}: {_AUTH_ADVICE}", destination_down=True)
    if 300 <= status < 500 and status != 408:
        return Permanent(reason)
    return Unknown(reason)


def unanswered(error: httpx2.TransportError, window: SendWindow, stream: Stream) -> Outcome:
    """Sort a request that got no answer; HTTP/2 can prove that a stream was never looked at."""
    if stream.cut or isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
        return Refused(trouble_of(error), destination_down=True)
    match error.__cause__.args if error.__cause__ else ():
        case (ConnectionTerminated(last_stream_id=int(last)),) if last < stream.id:
            return Refused(f"the connection was ended before stream {stream.id} was looked at")
        case (StreamReset(error_code=ErrorCodes.REFUSED_STREAM),):
            return Refused("the stream was refused before it was looked at")
    return failed(error, window)
