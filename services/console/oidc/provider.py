"""The login provider over HTTP: where its pages are, its keys, and what a code is worth.

Every question has an end: a limit of time as a whole, one of bytes, and no redirect is followed.
"""

import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote_plus

import httpx2
import orjson
from pydantic import ValidationError

from services.backbone.certificates import Certificates
from services.backbone.clock import Clock
from services.backbone.log import logger
from services.backbone.web.problems import Problem, away
from services.console.oidc.discovery import WELL_KNOWN, Pages
from services.console.oidc.settings import OidcSettings
from services.console.oidc.tokens import KEYS_LIMIT, Jwk

log = logger(__name__)

ANSWER_LIMIT_BYTES: Final = 512 * 1024
PAGES_FRESH_SECONDS: Final = 3600.0
KEYS_FRESH_SECONDS: Final = 600.0
KEYS_AGAIN_SECONDS: Final = 10.0
"""Tokens with unknown keys make us look for new ones, but not more often than this."""


class Refusal(Exception):
    """The provider does not take what it was sent; `word` is its own, as `invalid_grant`."""

    def __init__(self, word: str) -> None:
        super().__init__(word)
        self.word = word


@dataclass
class Provider:
    """Asks the provider; safe to use from several threads.

    Every method raises Problem: 503 while the provider is away, 502 if it answers nonsense.
    """

    settings: OidcSettings
    clock: Clock
    transport: httpx2.BaseTransport | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _pages: tuple[float, Pages] | None = None
    _keys: tuple[float, tuple[Jwk, ...]] | None = None

    def __post_init__(self) -> None:
        ca_file = self.settings.console_oidc_ca_file
        self._certificates = Certificates(ca_file) if ca_file else None
        self._clients: dict[ssl.SSLContext | bool, httpx2.Client] = {}
        """By what they trust: one of before a rotation may be in use still."""

    def close(self) -> None:
        """Close the connections."""
        for client in self._clients.values():
            client.close()

    def _client(self) -> httpx2.Client:
        """Return the client that trusts what the file of CAs has now."""
        tls = self._certificates.tls() if self._certificates else True
        if tls not in self._clients:
            self._clients[tls] = self._opened(tls)
        return self._clients[tls]

    def _opened(self, tls: ssl.SSLContext | bool) -> httpx2.Client:
        return httpx2.Client(
            timeout=self.settings.console_oidc_timeout_seconds,
            verify=tls,
            transport=self.transport,
            follow_redirects=False,
            trust_env=False,
            headers={"Accept": "application/json"},
        )

    def pages(self) -> Pages:
        """Return where the provider's pages are; asked for once an hour."""
        with self._lock:
            now = self.clock.monotonic_seconds()
            if self._pages is None or now - self._pages[0] > PAGES_FRESH_SECONDS:
                self._pages = now, self._discovered()
            return self._pages[1]

    def keys(self, *, again: bool = False) -> tuple[Jwk, ...]:
        """Return the provider's public keys; `again`: one was missing among them."""
        address = self.pages().jwks_uri
        fresh = KEYS_AGAIN_SECONDS if again else KEYS_FRESH_SECONDS
        with self._lock:
            now = self.clock.monotonic_seconds()
            if self._keys is None or now - self._keys[0] > fresh:
                self._keys = now, _keys_in(self._published(address))
            return self._keys[1]

    def redeem(self, code: str, verifier: str) -> dict[str, Any]:
        """Return the tokens that a code is worth.

        Raises:
            Refusal: it is worth none, or no more.
        """
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.settings.oidc_callback_url,
            "code_verifier": verifier,
            "client_id": self.settings.console_oidc_client_id,
        }
        try:
            return self._redeemed(form)
        except Refusal as refusal:
            if refusal.word in ("invalid_client", "unauthorized_client"):
                raise _nonsense("it does not take the client id or the secret we have") from None
            raise

    def _redeemed(self, form: Mapping[str, str]) -> dict[str, Any]:
        pages = self.pages()
        secret = self.settings.console_oidc_client_secret.get_secret_value()
        if not secret or "client_secret_basic" in pages.token_endpoint_auth_methods_supported:
            basic = _basic(self.settings.console_oidc_client_id, secret) if secret else None
            return self._told("POST", pages.token_endpoint, form, basic)
        return self._told("POST", pages.token_endpoint, {**form, "client_secret": secret})

    def more_about(self, access_token: str) -> dict[str, Any]:
        """Return what the provider tells of a person besides the ID token.

        Raises:
            Refusal: it tells nothing.
        """
        address = self.pages().userinfo_endpoint
        if address is None or not access_token.isascii() or not access_token.isprintable():
            return {}
        return self._told("GET", address, headers={"Authorization": f"Bearer {access_token}"})

    def _discovered(self) -> Pages:
        issuer = self.settings.console_oidc_issuer
        try:
            pages = Pages.model_validate(self._published(issuer.rstrip("/") + WELL_KNOWN))
        except ValidationError as error:
            raise _nonsense(f"its discovery document cannot be used: {error}") from None
        if pages.issuer != issuer:
            raise _nonsense(f"it calls itself {pages.issuer!r}; the setting says {issuer!r}")
        if unsafe := pages.unsafe():
            raise _nonsense(f"its page {unsafe!r} is not reached by https")
        return pages

    def _published(self, address: str) -> dict[str, Any]:
        try:
            return self._told("GET", address)
        except Refusal as refusal:
            raise _nonsense(f"{address} is not for everybody: {refusal}") from None

    def _told(
        self,
        method: str,
        address: str,
        form: Mapping[str, str] | None = None,
        auth: httpx2.Auth | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        ends = self.clock.monotonic_seconds() + self.settings.console_oidc_timeout_seconds
        try:
            with self._client().stream(
                method, address, data=form, auth=auth, headers=dict(headers or {})
            ) as answer:
                return _told_in(answer, self._read(answer, ends))
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            log.warning("login_provider_away", reason=f"{type(error).__name__}: {error}"[:300])
            raise provider_away() from None

    def _read(self, answer: httpx2.Response, ends: float) -> bytes:
        content = b""
        for chunk in answer.iter_bytes():
            content += chunk
            if len(content) > ANSWER_LIMIT_BYTES:
                raise _nonsense(f"its answer is longer than {ANSWER_LIMIT_BYTES} bytes")
            if self.clock.monotonic_seconds() > ends:
                raise httpx2.ReadTimeout("its answer took too long as a whole")
        return content


def provider_away() -> Problem:
    """Return what people are told while the provider does not answer."""
    return away(
        "provider_away",
        "the login provider does not answer; try again in a moment, or log in with a local user",
    )


def _told_in(answer: httpx2.Response, content: bytes) -> dict[str, Any]:
    if answer.status_code >= 500 or answer.status_code == 429:
        log.warning("login_provider_away", reason=f"it answered {answer.status_code}")
        raise provider_away()
    try:
        found = orjson.loads(content)
    except orjson.JSONDecodeError:
        found = None
    if answer.status_code in (400, 401, 403):
        word = found.get("error") if isinstance(found, dict) else None
        raise Refusal(str(word or f"status {answer.status_code}")[:100])
    if not answer.is_success or not isinstance(found, dict):
        raise _nonsense(f"it answered {answer.status_code}, and no object of JSON")
    return found


def _keys_in(told: Mapping[str, Any]) -> tuple[Jwk, ...]:
    keys = told.get("keys")
    if not isinstance(keys, list):
        raise _nonsense("it publishes no list of keys")
    return tuple(each for each in keys[:KEYS_LIMIT] if isinstance(each, dict))


def _nonsense(reason: str) -> Problem:
    log.error("login_provider_wrong", reason=reason[:500])
    detail = "the login provider answers what cannot be used; an admin finds the reason in our log"
    return Problem(502, "provider_wrong", detail)


def _basic(client_id: str, secret: str) -> httpx2.BasicAuth:
    """Return name and secret as RFC 6749 has them sent: each escaped as in a form."""
    return httpx2.BasicAuth(quote_plus(client_id), quote_plus(secret))
