"""Carries requests of Twilio's client by an HTTP client that tells when the first byte leaves.

Twilio's own transport cannot tell a failed connection from a lost answer for sure. This one never
repeats, never follows a redirect, keeps no connection, and bounds time and size.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2
from twilio.http.response import Response

from services.deliverer.channels.sms.answers import Answer

ANSWER_LIMIT_BYTES: Final = 8 * 1024 * 1024
"""A page of the list has at most 200 messages, each of some 2 KiB."""
_FIRST_BYTE: Final = "http11.send_request_headers.started"


class TooLarge(Exception):
    """The answer is larger than any that we asked for."""


class Carrier:
    """What Twilio's client takes as its `http_client`; one for each send or look-up."""

    def __init__(
        self,
        http: httpx2.Client,
        api_url: str,
        timeout: httpx2.Timeout,
        on_first_byte: Callable[[], None],
    ) -> None:
        self._http = http
        self._api_url = api_url
        self._timeout = timeout
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
        """Do one request; the address's host is the configured one."""
        request = self._http.build_request(
            method,
            self._address(uri),
            params=params or None,
            data=data or None,
            headers=headers,
            timeout=self._timeout,
            extensions={"trace": self._trace},
        )
        response = self._http.send(request, auth=auth, stream=True)
        self.answer = answer = _read(response)
        return Response(answer.status, answer.text, answer.headers)

    def _address(self, uri: str) -> str:
        parts = urlsplit(uri)
        query = f"?{parts.query}" if parts.query else ""
        return f"{self._api_url}{parts.path}{query}"

    def _trace(self, event: str, _: Mapping[str, Any]) -> None:
        if event == _FIRST_BYTE:
            self._on_first_byte()


def _read(response: httpx2.Response) -> Answer:
    content = bytearray()
    try:
        for part in response.iter_bytes():
            content += part
            if len(content) > ANSWER_LIMIT_BYTES:
                raise TooLarge("the answer is too large")
    finally:
        response.close()
    return Answer(response.status_code, response.headers, content.decode(errors="replace"))
