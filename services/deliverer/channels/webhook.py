"""Webhook: POSTs JSON to an address; the Idempotency-Key header is the delivery id.

A recipient is an address, or a name from the setting `webhook_targets`, which keeps the address
secret. With a signing secret, requests are signed as the Standard Webhooks specification says.

What is provably not taken: everything before the request's first byte, and the answers 425, 429
and 503. A request on a kept connection that dies before any byte of an answer is in doubt: that
nothing came back proves nothing.
"""

import asyncio
import base64
import hashlib
import hmac
from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Final

import aiohttp
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr

from services.backbone.certificates import CaFile
from services.backbone.clock import Clock
from services.backbone.settings import Seconds, Settings, read_settings
from services.contracts.records import Severity
from services.deliverer.channel import Message, Promise, SendWindow, Traits
from services.deliverer.outcomes import Accepted, Outcome, Permanent, Refused, Unknown
from services.deliverer.posting import (
    REASON_LIMIT,
    NoAddress,
    address,
    answer_bytes,
    failed,
    open_web,
    post,
    retry_after_seconds,
)

_NOT_PROCESSED: Final = frozenset({425, 429, 503})
_BODY_SECONDS: Final = 0.5
_BODY_LIMIT_BYTES: Final = 16 * 1024
_MAYBE_PROCESSED: Final = frozenset({408, 409})
"""408 comes from gateways for slow servers too; 409 tells of a first try still under way."""

PROMISE: Final = Promise(
    recipient="an http(s) address, or a name from `webhook_targets`",
    our_id="headers `Idempotency-Key` and `webhook-id`",
    taken_when="answered 2xx",
    not_taken="nothing left yet (refused, DNS, TLS, connect timeout); 425, 429, 503",
    permanent="other 4xx, redirects, no address",
    in_doubt="408, 409, other 5xx, timeout or reset after the first byte",
    evidence="none; with `webhook_dedupes` the same key is sent again",
    without_faults="once accepted",
    after_doubt="at most one repeat, marked; or held",
    not_promised="that a receiver which answered 2xx did something",
)


def signing_key(secret: str) -> bytes:
    """Return the key of a secret: `whsec_` and base64, or any text.

    Raises:
        ValueError: it is neither, or has no key; the message does not tell it.
    """
    encoded = secret.removeprefix("whsec_")
    try:
        key = secret.encode() if encoded == secret else base64.b64decode(encoded, validate=True)
    except ValueError:
        raise ValueError("is neither `whsec_` and base64 nor a text in UTF-8") from None
    if not key:
        raise ValueError("has no key: a blank secret protects nothing")
    return key


def _with_key(secret: SecretStr) -> SecretStr:
    signing_key(secret.get_secret_value().strip())
    return secret


SigningSecret = Annotated[SecretStr, AfterValidator(_with_key)]
"""Has a key: a mistyped one is found at the start, and not by a send."""

_FORM: Final = (
    "must look like https://server.example.com/path, and with a log-in like https://user:password@…"
    " with %2F for `/` and so on, no colon in the user, and ISO 8859-1 only"
)


def _leading_somewhere(url: SecretStr) -> SecretStr:
    text = url.get_secret_value().strip()
    if not text:
        raise ValueError("a blank secret leads nowhere: give the address")
    try:
        address(text)
    except NoAddress:  # its text may repeat a part of the value
        raise ValueError(_FORM) from None
    return SecretStr(text)


SecretAddress = Annotated[SecretStr, AfterValidator(_leading_somewhere)]
"""An address that the client can use: what it cannot is found at the start too."""


class WebhookTarget(BaseModel):
    """A named recipient: where, and signed with what."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: SecretAddress
    signing_secret: SigningSecret | None = None


class WebhookSettings(Settings):
    """How the webhook channel talks."""

    webhook_targets: dict[str, WebhookTarget] = Field(default_factory=dict)
    """Addresses by the name that routes use, each maybe with a secret of its own to sign with."""
    webhook_signing_secret: SigningSecret | None = None
    """For targets without one of their own: `whsec_` and base64, or any text."""
    webhook_dedupes: bool = False
    """Whether the receivers drop a second request with the same Idempotency-Key."""
    webhook_connect_timeout_seconds: Seconds = 5.0
    """How long a connection may take to come about."""
    webhook_keep_alive_seconds: Annotated[float, Field(ge=0, le=3600)] = 1.0
    """How long an idle connection is kept, less than receivers do; 0 opens one for each send."""
    webhook_ca_file: CaFile | None = None
    """Certificates (PEM) that receivers' are checked by, instead of the system's."""


class WebhookChannel:
    """POSTs each delivery once."""

    def __init__(self, settings: WebhookSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._web = open_web(
            connect_timeout_seconds=settings.webhook_connect_timeout_seconds,
            ca_file=settings.webhook_ca_file,
            keep_alive_seconds=settings.webhook_keep_alive_seconds,
        )
        self.traits = Traits(
            name="webhook",
            promise=PROMISE,
            dedupes_by_key=settings.webhook_dedupes,
            repeats=frozenset({Severity.CRITICAL}),
            breaker_per_recipient=True,
            send_timeout_seconds=15.0,
            names=frozenset(settings.webhook_targets),
        )

    async def send(self, message: Message, window: SendWindow) -> Outcome:
        """POST one delivery; the status line decides, whatever the answer's body says."""
        recipient = message.delivery.recipient
        url, secret = self._target(recipient)
        body = payload(message)
        headers = self._headers(message, body, secret)
        try:
            response = await post(self._web, url, window, body, headers)
        except NoAddress as error:
            return Permanent(f"the recipient is no address to POST to: {error}")
        except aiohttp.ClientError as error:
            return failed(error, window, "" if recipient == url else url, shown_as=recipient)
        outcome = answered(response.status, response.headers, self._clock.now_ms())
        window.decide(outcome)
        await self._let_go(response)
        return outcome

    async def _let_go(self, response: aiohttp.ClientResponse) -> None:
        """End the answer; a connection can be kept only if the body was read."""
        if not self._settings.webhook_keep_alive_seconds:
            response.close()
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(_BODY_SECONDS):
                await answer_bytes(response, _BODY_LIMIT_BYTES)

    def unusable(self) -> str | None:
        """Return None: a connection that is of no use is replaced by itself."""
        return None

    async def close(self) -> None:
        """Close connections."""
        await self._web.close()

    def _target(self, recipient: str) -> tuple[str, SecretStr | None]:
        general = self._settings.webhook_signing_secret
        named = self._settings.webhook_targets.get(recipient)
        if named is None:
            return recipient, general
        return named.url.get_secret_value(), named.signing_secret or general

    def _headers(self, message: Message, body: bytes, secret: SecretStr | None) -> dict[str, str]:
        delivery_id = message.delivery.delivery_id
        plain = {"Content-Type": "application/json", "Idempotency-Key": delivery_id}
        if secret is None:
            return plain
        at_seconds = self._clock.now_ms() // 1000
        return plain | signed(delivery_id, at_seconds, body, secret.get_secret_value())


def payload(message: Message) -> bytes:
    """Return the JSON body: the delivery record; the same bytes at every unmarked try."""
    return message.worded.encode()


def signed(delivery_id: str, at_seconds: int, body: bytes, secret: str) -> dict[str, str]:
    """Return the headers of the Standard Webhooks specification, version v1 (HMAC-SHA256)."""
    content = f"{delivery_id}.{at_seconds}.".encode() + body
    mac = base64.b64encode(hmac.digest(signing_key(secret), content, hashlib.sha256)).decode()
    return {
        "webhook-id": delivery_id,
        "webhook-timestamp": str(at_seconds),
        "webhook-signature": f"v1,{mac}",
    }


def answered(status: int, headers: Mapping[str, str], now_ms: int) -> Outcome:
    """Sort a status that the receiver has answered."""
    reason = f"answered HTTP {status}"
    if 200 <= status < 300:
        return Accepted(headers.get("x-request-id", "")[:REASON_LIMIT])
    if status in _NOT_PROCESSED:
        wait = retry_after_seconds(headers.get("retry-after"), now_ms)
        return Refused(reason, wait, destination_down=status == 503)
    if status in _MAYBE_PROCESSED or status >= 500 or status < 200:
        return Unknown(reason)
    if status < 400:
        return Permanent(f"{reason}: redirects are not followed, set the new address")
    return Permanent(reason)


def open_channel(clock: Clock) -> WebhookChannel:
    """Read the settings and make the channel."""
    return WebhookChannel(read_settings(WebhookSettings), clock)
