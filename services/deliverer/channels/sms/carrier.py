"""Carries requests of Twilio's client by an HTTP client that tells when the first byte leaves.

Twilio's own transport cannot tell a failed connection from a lost answer for sure. This one
connects, then asks whether the request may leave, and only then writes. It never repeats, never
follows a redirect, and bounds time and size.
"""

from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from twilio.http.response import Response

from services.deliverer.channels.sms.answers import Answer
from services.deliverer.channels.sms.connections import Connections

ANSWER_LIMIT_BYTES: Final = 8 * 1024 * 1024
"""A page of the list has at most 200 messages, each of some 2 KiB."""


class NoAnswer(Exception):
    """No whole answer was had; the cause says why."""


@dataclass(frozen=True, slots=True)
class Way:
    """On what requests go, and how long each step may take."""

    connections: Connections
    connect_seconds: float
    answer_seconds: float


class Carrier:
    """What Twilio's client takes as its `http_client`; one for each send or look-up."""

    def __init__(self, way: Way, on_first_byte: Callable[[], None]) -> None:
        self._way = way
        self._on_first_byte = on_first_byte
        self.answer: Answer | None = None
        """The last answer, once it was read whole."""

    def request(
        self,
        method: str,
        uri: str,
        params: Mapping[str, Any] | None = None,
        data: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        auth: tuple[str, str] | None = None,
        **_: object,
    ) -> Response:
        """Do one request; the address's host is the configured one.

        Raises:
            NoAnswer: none came, or not whole.
        """
        sent = dict(headers or {}) | _authorization(auth)
        body = urlencode(data, doseq=True).encode() if data else None
        if body is not None:
            sent |= {"Content-Type": "application/x-www-form-urlencoded"}
        try:
            self.answer = answer = self._asked(method, _path(uri, params), body, sent)
        except (OSError, HTTPException, UnicodeError) as error:
            raise NoAnswer(f"{type(error).__name__}: {error}") from error
        return Response(answer.status, answer.text, answer.headers)

    def _asked(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> Answer:
        connections = self._way.connections
        connection = connections.open(self._way.connect_seconds)
        try:
            connection.sock.settimeout(self._way.answer_seconds)
            self._on_first_byte()
            connection.request(method, connections.path + path, body, headers)
            response = connection.getresponse()
            answer = _read(response)
        except BaseException:
            connection.close()
            raise
        connections.keep(connection, response)
        return answer


def _path(uri: str, params: Mapping[str, Any] | None) -> str:
    parts = urlsplit(uri)
    query = "&".join(each for each in (parts.query, urlencode(params or {}, doseq=True)) if each)
    return f"{parts.path}?{query}" if query else parts.path


def _authorization(auth: tuple[str, str] | None) -> dict[str, str]:
    if auth is None:
        return {}
    return {"Authorization": f"Basic {b64encode(':'.join(auth).encode()).decode()}"}


def _read(response: HTTPResponse) -> Answer:
    content = response.read(ANSWER_LIMIT_BYTES + 1)
    if len(content) > ANSWER_LIMIT_BYTES:
        raise NoAnswer("the answer is too large")
    if response.length:
        raise NoAnswer(f"the answer ended {response.length} bytes early")
    headers = {name.lower(): value for name, value in response.getheaders()}
    return Answer(response.status, headers, content.decode(errors="replace"))
