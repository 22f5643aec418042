"""HTTP/1.1 as uvicorn reads it, whatever other protocol a client offers to go on with."""

from time import monotonic
from typing import Final

from httptools import HttpParserError, HttpParserUpgrade
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from services.backbone.log import logger
from services.backbone.seldom import Seldom

log = logger(__name__)

_INVALID: Final = "Invalid HTTP request received."
STRANGERS: Final = Seldom()
"""They can send what is no HTTP at any rate, from any address."""


class Http1(HttpToolsProtocol):
    """Takes no offer of another protocol, as RFC 9110 (7.8) leaves it to a server.

    Java's client offers HTTP/2 with each request, unless it is told not to. Behind such a head
    the parser reads nothing more: the body would be lost, or be taken for the next request.
    """

    def data_received(self, data: bytes) -> None:
        """Read on; the head with an offer is read once more, without it."""
        self._unset_keepalive_if_required()
        try:
            while data:
                data = self._read(data)
        except HttpParserError:
            peer = self.client[0] if self.client else ""
            STRANGERS.tell(log.warning, "no_http", monotonic(), peer=peer)
            self.send_400_response(_INVALID)

    def _read(self, data: bytes) -> bytes:
        try:
            self.parser.feed_data(data)
        except HttpParserUpgrade as offer:
            head = self._without_offer()
            (behind,) = offer.args
            self.parser = type(self.parser)(self)
            self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
            return head + data[behind:]
        return b""

    def _without_offer(self) -> bytes:
        method = self.parser.get_method()
        if method == b"CONNECT":
            raise HttpParserError
        version = self.parser.get_http_version().encode()
        kept = (name + b": " + value for name, value in self.headers if name != b"upgrade")
        return b"\r\n".join((b" ".join((method, self.url, b"HTTP/" + version)), *kept, b"", b""))

    def on_headers_complete(self) -> None:
        """Begin no answer to a head that is read once more."""
        if not self.parser.should_upgrade():
            super().on_headers_complete()

    def on_message_complete(self) -> None:
        """End no body that has not begun."""
        if not self.parser.should_upgrade():
            super().on_message_complete()
