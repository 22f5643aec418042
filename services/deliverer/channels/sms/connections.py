"""Connections to Twilio: one for each request under way, and one that did well is kept a while."""

import threading
from collections.abc import Callable
from http import HTTPStatus
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from typing import Final
from urllib.parse import urlsplit

from services.backbone.certificates import Certificates
from services.backbone.sockets import has_news

KEPT_LIMIT: Final = 8
"""What is given back beyond that is closed."""


class Connections:
    """Opens connections and keeps those that are given back; safe to use from several threads."""

    def __init__(
        self,
        api_url: str,
        certificates: Certificates,
        keep_seconds: float,
        monotonic_seconds: Callable[[], float],
    ) -> None:
        self._base = urlsplit(api_url)
        self._certificates = certificates
        self._keep_seconds = keep_seconds
        self._monotonic_seconds = monotonic_seconds
        self._kept: list[tuple[HTTPConnection, float]] = []
        self._is_closed = False
        self._lock = threading.Lock()

    @property
    def path(self) -> str:
        """What stands in front of every path."""
        return self._base.path

    def open(self, timeout_seconds: float) -> HTTPConnection:
        """Return a kept connection that nobody has closed as far as we heard, else a new one.

        Raises:
            OSError, UnicodeError: none could be made.
        """
        if (kept := self._alive()) is not None:
            return kept
        made = self._new(timeout_seconds)
        try:
            made.connect()
        except BaseException:
            made.close()  # the handshake may have failed on an open socket
            raise
        made.auto_open = 0  # a request never leaves on a connection that the client made itself
        return made

    def keep(self, connection: HTTPConnection, response: HTTPResponse) -> None:
        """Take a connection back; it is closed unless it can carry another request.

        The answer itself follows a preliminary one (1xx), and the next request must not read it.
        """
        until = self._monotonic_seconds() + self._keep_seconds
        is_whole = response.isclosed() and response.status >= HTTPStatus.OK
        is_useful = is_whole and not response.will_close and self._keep_seconds > 0
        with self._lock:
            if is_useful and not self._is_closed and len(self._kept) < KEPT_LIMIT:
                self._kept.append((connection, until))
                return
        connection.close()

    def close(self) -> None:
        """Close all that are kept, and keep none from now on: a thread may come back late."""
        with self._lock:
            kept, self._kept, self._is_closed = self._kept, [], True
        for connection, _ in kept:
            connection.close()

    def _alive(self) -> HTTPConnection | None:
        while True:
            with self._lock:
                if not self._kept:
                    return None
                connection, until = self._kept.pop()
            if self._monotonic_seconds() < until and not has_news(connection.sock.fileno()):
                return connection
            connection.close()

    def _new(self, timeout_seconds: float) -> HTTPConnection:
        place = self._base.netloc
        if self._base.scheme == "https":
            tls = self._certificates.tls()
            return HTTPSConnection(place, timeout=timeout_seconds, context=tls)
        return HTTPConnection(place, timeout=timeout_seconds)
