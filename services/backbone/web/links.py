"""Links that acknowledge an alert: signed, short enough for an SMS, and over after some days.

A link names one delivery, and with it the alert and the person it was for. Nothing about links is
stored: whoever has the secret can check them.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field, SecretStr, StringConstraints

from services.backbone.settings import Settings
from services.contracts.web import PublicAddress

ACKNOWLEDGE_PATH: Final = "/acknowledge"
_PURPOSE: Final = b"aldebaran acknowledge 1"
_ID_BYTES: Final = 16
_TIME_BYTES: Final = 5
_MAC_BYTES: Final = 16
"""128 bits cannot be guessed, and half of what SHA-256 gives is as RFC 2104 recommends."""
_TOKEN_LIMIT_CHARACTERS: Final = 256

KeyId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]{1,16}$")]


WebAddress = Annotated[str, Field(max_length=200, pattern=r"^(https?://[^\s/?#]+[^\s?#]*)?$")]
"""Where a program is reached by people; empty if it is not."""


class LinkSettings(Settings):
    """Where links lead, and what signs them."""

    callbacks_public_url: PublicAddress = ""
    """The callbacks program as people and providers reach it from outside; empty: no links."""
    link_secrets: Annotated[
        dict[KeyId, Annotated[SecretStr, Field(min_length=32)]], Field(max_length=8)
    ] = Field(default_factory=dict)
    """Secrets by a name of your own. The first signs, all are good: put a new one first, and take
    the old one out when its links are over."""
    link_days: Annotated[int, Field(ge=1, le=365)] = 7
    """How long a link can be used."""


class BadLink(Exception):
    """A link that opens nothing; the message says what to do."""


class Forged(BadLink):
    """Not signed by us, or cut on its way."""


class Expired(BadLink):
    """Signed by us, but its time is over."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """What a link is about."""

    delivery_id: str
    expires_at_ms: int


class Links:
    """Makes links and checks them."""

    def __init__(self, secrets: Mapping[str, bytes], days: int = 7) -> None:
        self._secrets = dict(secrets)
        self._days = days

    def token(self, delivery_id: str, now_ms: int) -> str:
        """Return the signed part of a link; there must be a secret."""
        key_id = next(iter(self._secrets))
        ends = now_ms // 1000 + self._days * 86_400
        body = bytes.fromhex(delivery_id) + ends.to_bytes(_TIME_BYTES, "big")
        return f"{key_id}.{_spelled(body + self._mac(key_id, body))}"

    def read(self, token: str, now_ms: int) -> Ticket:
        """Return what a token is about.

        Raises:
            Forged: no secret of ours has signed it.
            Expired: its time is over.
        """
        key_id, body, mac = _parts(token)
        # A name that we do not know costs the same time as one that we do.
        expected = self._mac(key_id, body)
        if not hmac.compare_digest(mac, expected) or key_id not in self._secrets:
            raise Forged(
                "this link is not valid; open it from the message again, whole, "
                "or acknowledge the alert in another way"
            )
        ends_ms = int.from_bytes(body[_ID_BYTES:], "big") * 1000
        if now_ms >= ends_ms:
            raise Expired(
                "this link is over; acknowledge the alert from a newer message or by the API"
            )
        return Ticket(body[:_ID_BYTES].hex(), ends_ms)

    def _mac(self, key_id: str, body: bytes) -> bytes:
        secret = self._secrets.get(key_id, b"")
        said = _PURPOSE + b"\0" + key_id.encode() + b"\0" + body
        return hmac.new(secret, said, hashlib.sha256).digest()[:_MAC_BYTES]


def open_links(settings: LinkSettings) -> Links | None:
    """Return what makes and checks links; None where there is no secret."""
    secrets = {
        key_id: secret.get_secret_value().encode()
        for key_id, secret in settings.link_secrets.items()
    }
    return Links(secrets, settings.link_days) if secrets else None


def acknowledge_url(public_url: str, token: str) -> str:
    """Return the whole link."""
    return f"{public_url.rstrip('/')}{ACKNOWLEDGE_PATH}/{token}"


def _spelled(whole: bytes) -> str:
    return base64.urlsafe_b64encode(whole).decode().rstrip("=")


def _parts(token: str) -> tuple[str, bytes, bytes]:
    key_id, _, signed = token.partition(".")
    size = _ID_BYTES + _TIME_BYTES + _MAC_BYTES
    try:
        if len(token) > _TOKEN_LIMIT_CHARACTERS or not token.isascii():
            raise ValueError
        padded = signed + "=" * (-len(signed) % 4)
        whole = base64.b64decode(padded, altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        whole = b""
    # One link has one spelling, though base64 readers take several.
    if len(whole) != size or _spelled(whole) != signed:
        # Of the right shape, so that checking it takes the usual way.
        return "", bytes(_ID_BYTES + _TIME_BYTES), bytes(_MAC_BYTES)
    return key_id, whole[: size - _MAC_BYTES], whole[size - _MAC_BYTES :]
