"""How far one request got, as the HTTP client reports it."""

from collections.abc import Mapping
from typing import Any, Final

from services.deliverer.channel import SendWindow

_HEADERS_FAILED: Final = "http2.send_request_headers.failed"
_HEADERS_STARTED: Final = "http2.send_request_headers.started"


class Stream:
    """Opens the window at the first byte; `cut` tells that the request can never be whole."""

    def __init__(self, window: SendWindow) -> None:
        self._window = window
        self.id = 0
        self.cut = False

    async def trace(self, event: str, told: Mapping[str, Any]) -> None:
        """Take what the HTTP client reports; it may try anew where HTTP/2 proves that it may."""
        self.id = int(told.get("stream_id") or self.id)
        if event in (_HEADERS_STARTED, _HEADERS_FAILED):
            self.cut = event == _HEADERS_FAILED
        if event == _HEADERS_STARTED:
            self._window.open()
