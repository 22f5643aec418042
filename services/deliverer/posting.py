"""What channels over HTTP have in common: one request that is never repeated, when its first byte
leaves, what a failure proves.

The HTTP client tells when a request begins to leave, so "nothing had left yet" is known and not
guessed. Where a channel does not say otherwise each request has a connection of its own, since a
kept one may be closed by the other side just while we write.
"""

import asyncio
import re
import ssl
from collections.abc import AsyncIterable, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from types import SimpleNamespace
from typing import Any, Final

import aiohttp
import orjson
from yarl import URL

from services.backbone.certificates import Certificates
from services.deliverer.channel import SendWindow
from services.deliverer.outcomes import Outcome, Refused, Unknown
from services.deliverer.resolving import Resolver

REASON_LIMIT: Final = 200
"""Characters of what a provider said that are kept in a reason."""
ANSWER_LIMIT_BYTES: Final = 64 * 1024
_RESOLVED: Final = re.compile(r" \('[^']*', \d+(?:, \d+)*\)")
"""Where a name led, as connecting tells it."""
_WHOLE_ADDRESS: Final = re.compile(r"(https?://)(?:[^\s/'\"]*@)?([^\s/?#'\"]+)[^\s'\"]*")


class NoAddress(aiohttp.ClientError):
    """What is no web address cannot be asked; no connection was tried."""


class _Connector(aiohttp.TCPConnector):
    def __init__(self, certificates: Certificates, **how: Any) -> None:
        super().__init__(**how)
        self.certificates = certificates


def _tls(web: aiohttp.ClientSession) -> ssl.SSLContext | bool:
    """Return what a request's connection is to trust, as the client keeps the context it had."""
    connector = web.connector
    return connector.certificates.tls() if isinstance(connector, _Connector) else True


def open_web(
    *,
    connect_timeout_seconds: float,
    ca_file: str | None,
    keep_alive_seconds: float = 0.0,
    headers: Mapping[str, str] | None = None,
    login: tuple[str, str] | None = None,
) -> aiohttp.ClientSession:
    """Return a client without cookies, proxies from the environment and compressed answers.

    Connecting is bounded, from the name's look-up to TLS; how long an answer may take is the
    caller's. Must be called on the event loop.
    """
    connecting = _Connector(
        Certificates(ca_file),
        resolver=Resolver(),
        limit=0,
        force_close=not keep_alive_seconds,
        keepalive_timeout=keep_alive_seconds or None,
    )
    leaving = aiohttp.TraceConfig()
    leaving.on_request_headers_sent.append(_open_window)
    return aiohttp.ClientSession(
        connector=connecting,
        timeout=aiohttp.ClientTimeout(total=None, connect=connect_timeout_seconds),
        headers={
            "User-Agent": "Aldebaran",
            "Accept-Encoding": "identity",
            **({} if login is None else {"Authorization": aiohttp.encode_basic_auth(*login)}),
            **(headers or {}),
        },
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        trace_configs=[leaving],
    )


async def _open_window(
    _: aiohttp.ClientSession, request: SimpleNamespace, __: aiohttp.TraceRequestHeadersSentParams
) -> None:
    """Open the request's window; the client calls this before it writes, whatever its name says."""
    if request.trace_request_ctx is not None:
        request.trace_request_ctx.open()


async def post(
    web: aiohttp.ClientSession,
    url: str,
    window: SendWindow,
    content: bytes | Mapping[str, str],
    headers: Mapping[str, str] | None = None,
) -> aiohttp.ClientResponse:
    """POST once, bytes or a form, and return the answer's beginning; redirects are answers.

    Raises:
        NoAddress: nobody can be asked there.
        aiohttp.ClientError: there was no answer; `failed` sorts it.
        TooLate: the window was over before the first byte.
    """
    if web.connector is not None and not web.connector.force_close:
        await _heard()
    return await web.post(
        address(url),
        data=content,
        headers=headers,
        allow_redirects=False,
        trace_request_ctx=window,
        ssl=_tls(web),
    )


async def _heard() -> None:
    """Let the loop hear of kept connections that were closed, in one turn, and act on it."""
    for _ in range(2):
        await asyncio.sleep(0)


async def ask(
    web: aiohttp.ClientSession, url: str, query: Mapping[str, str]
) -> aiohttp.ClientResponse:
    """GET what tells of messages, and return the answer's beginning; redirects are answers.

    Raises:
        aiohttp.ClientError: there was no answer.
    """
    return await web.get(address(url), params=query, allow_redirects=False, ssl=_tls(web))


def address(url: str) -> URL:
    """Read a web address; the client and the look-up of names take more, and fail in odd ways.

    Raises:
        NoAddress: it is none.
    """
    try:
        found = URL(url)
        if found.scheme not in ("http", "https") or not found.host:
            raise NoAddress("it has no http:// or https:// with a host")
        (found.with_host(found.host).raw_host or "").encode("idna")
    except ValueError as error:
        raise NoAddress(f"its host or port is not valid: {error}"[:REASON_LIMIT]) from None
    _check_login(found)
    return found


def _check_login(url: URL) -> None:
    """Write the log-in as the client will, which raises what is no ClientError."""
    try:
        aiohttp.encode_basic_auth(url.user or "", url.password or "", "latin1")
    except ValueError:
        raise NoAddress("its user has a colon, or its log-in is not all ISO 8859-1") from None


def failed(
    error: Exception, window: SendWindow, hidden_url: str = "", shown_as: str = ""
) -> Outcome:
    """Sort a request that got no answer; the reason is as `trouble_of` tells it."""
    reason = trouble_of(error, hidden_url, shown_as)
    if window.opened:
        return Unknown(reason)
    return Refused(reason, destination_down=True)


def trouble_of(error: Exception, hidden_url: str = "", shown_as: str = "") -> str:
    """Return what went wrong; of an address only its host, since a path may be a secret.

    Of `hidden_url` not even that: it is `shown_as` a name.
    """
    told = _WHOLE_ADDRESS.sub(r"\1\2", f"{type(error).__name__}: {error}")
    if hidden_url:
        told = _named(told, URL(hidden_url), shown_as)
    return told[:REASON_LIMIT]


def _named(told: str, url: URL, name: str) -> str:
    """Put a name where the host stands in any spelling, and nothing where the host led."""
    told = _RESOLVED.sub("", told)
    for host in {url.host or "", url.raw_host or ""} - {""}:
        whole = rf"(?<![\w.-]){re.escape(host.rstrip('.'))}(?![\w-])"
        told = re.sub(whole, lambda _: name, told, flags=re.IGNORECASE)
    return told


async def answer_object(
    response: aiohttp.ClientResponse, limit_bytes: int = ANSWER_LIMIT_BYTES
) -> dict[str, Any]:
    """Read the answer as a JSON object; empty if it is none, is too large or does not come."""
    return object_in(await answer_bytes(response, limit_bytes))


async def answer_bytes(
    response: aiohttp.ClientResponse, limit_bytes: int = ANSWER_LIMIT_BYTES
) -> bytes:
    """Read the answer and end it; empty if it is too large or does not come whole."""
    try:
        return await whole(response.content.iter_any(), limit_bytes)
    except aiohttp.ClientError:
        return b""
    finally:
        response.close()


async def whole(parts: AsyncIterable[bytes], limit_bytes: int) -> bytes:
    """Put an answer's parts together; empty if they are too large."""
    content = b""
    async for part in parts:
        content += part
        if len(content) > limit_bytes:
            return b""
    return content


def object_in(content: bytes | str) -> dict[str, Any]:
    """Read a JSON object; empty if it is none."""
    try:
        found = orjson.loads(content)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def retry_after_seconds(value: str | None, now_ms: int) -> float | None:
    """Read a Retry-After header, in seconds or as a date; None if absent or not readable."""
    if value is None:
        return None
    if value.strip().isdecimal():
        return float(value.strip()[:9])
    try:
        at = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    zoned = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, zoned.timestamp() - now_ms / 1000)
