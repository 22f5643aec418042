"""HTTP/1.1 with an end to what comes before and behind a body."""

from typing import Final

from services.backbone.http.http1 import Http1

HEAD_LIMIT_BYTES: Final = 64 * 1024
"""Of one request; what of it came together with the end of the one before does not count."""

_TOO_LARGE: Final = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"Content-Length: 0\r\nConnection: close\r\n\r\n"
)


class BoundedHead(Http1):
    """Ends a connection that sends an address, headers or trailers without an end.

    The parser keeps all of them until they are complete, before anybody is asked for a key.
    """

    _head_bytes = 0

    def data_received(self, data: bytes) -> None:
        """Read on; what the parser has made no body of by then is part of a head."""
        self._head_bytes += len(data)
        super().data_received(data)
        if self._head_bytes > HEAD_LIMIT_BYTES and not self.transport.is_closing():
            if self.cycle is None or self.cycle.response_complete:
                self.transport.write(_TOO_LARGE)
            self.transport.close()

    def on_message_begin(self) -> None:
        """Count anew."""
        self._head_bytes = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Count anew, as what follows is a body."""
        self._head_bytes = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Count anew: bodies are bounded by who reads them."""
        self._head_bytes = 0
        super().on_body(body)
