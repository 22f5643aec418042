"""Twilio's status callbacks: signed forms whose address names the delivery and the try.

The signature covers the whole public address and every field. So a callback of one delivery is
worth nothing for another, and one that is sent again says nothing new.
"""

from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import parse_qsl

from pydantic import SecretStr
from starlette.datastructures import ImmutableMultiDict
from twilio.request_validator import (
    SIGNATURE_SETTINGS_HEADER,
    RequestValidator,
    get_signature_algorithm,
)

from services.backbone.ledger.deliveries.evidence import Evidence, EvidenceKind
from services.backbone.settings import Settings, read_settings
from services.callbacks.provider import Callback, Forged, Provider, Reading, Told, Unreadable
from services.contracts.twilio import CALLBACK_OVERRIDES, Fate, fate, told
from services.contracts.web import PublicAddress

NAME: Final = "twilio"
FIELDS_LIMIT: Final = 100
_FORM: Final = "application/x-www-form-urlencoded"
_ALGORITHM_HEADER: Final[str] = SIGNATURE_SETTINGS_HEADER.lower()
_ATTEMPT_DIGITS_LIMIT: Final = 6

_KINDS: Final[Mapping[Fate, EvidenceKind]] = {
    Fate.UNDER_WAY: EvidenceKind.TAKEN,
    Fate.DELIVERED: EvidenceKind.CONFIRMED,
    Fate.LOST: EvidenceKind.UNDELIVERED,
}


class TwilioSettings(Settings):
    """The secrets with which Twilio signs, and the address that it signs."""

    sms_auth_token: SecretStr | None = None
    """The account's token, as the deliverer's setting of this name; Twilio signs with it."""
    sms_shared_key: SecretStr | None = None
    """The secret of a key with which Twilio signs instead, if the account is set up so."""
    callbacks_public_url: PublicAddress = ""
    """As the deliverer's setting of this name: what Twilio calls, whatever proxies stand before."""


class Twilio:
    """Reads status callbacks."""

    name = NAME

    def __init__(self, secrets: Sequence[str], public_url: str) -> None:
        self._validators = [RequestValidator(each) for each in secrets]
        self._public_url = public_url

    def read(self, callback: Callback) -> Reading:
        """Check the signature, then say what the message's status proves."""
        if callback.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
            return Unreadable("a status callback is a form")
        try:
            text = callback.body.decode()
            pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=FIELDS_LIMIT)
        except ValueError:
            return Unreadable("the form cannot be read")
        form: ImmutableMultiDict[str, str] = ImmutableMultiDict(pairs)
        if not self._is_signed(callback, form):
            return Forged("X-Twilio-Signature is not that of this address, form and token")
        return evidence(callback, form)

    def _is_signed(self, callback: Callback, form: ImmutableMultiDict[str, str]) -> bool:
        """Tell whether Twilio signed it; its documents leave open if the fragment is signed too."""
        signature = callback.headers.get("x-twilio-signature", "")
        algorithm = get_signature_algorithm(callback.headers.get(_ALGORITHM_HEADER, ""))
        address = self._public_url + callback.path
        return any(
            validator.validate(each, form, signature, algorithm)
            for validator in self._validators
            for each in (address, f"{address}#{CALLBACK_OVERRIDES}")
        )


def evidence(callback: Callback, form: Mapping[str, str]) -> Reading:
    """Return what a signed form proves."""
    sid = form.get("MessageSid") or form.get("SmsSid") or ""
    status = (form.get("MessageStatus") or form.get("SmsStatus") or "").lower()
    if not sid or not status:
        return Unreadable("a status callback has MessageSid and MessageStatus")
    piece = Evidence(
        delivery_id=callback.delivery_id,
        kind=_KINDS[fate(status)],
        source=NAME,
        provider_id=sid,
        detail=told(status, form.get("ErrorCode", "")),
        attempt=_attempt(callback.query.get("attempt", "")),
    )
    return Told((piece,))


def _attempt(said: str) -> int:
    """Return the try that the address names, or 0."""
    readable = said.isascii() and said.isdecimal() and len(said) <= _ATTEMPT_DIGITS_LIMIT
    return int(said) if readable else 0


def open_provider() -> Provider | None:
    """Read the settings; without a secret or the public address there is nothing to check."""
    settings = read_settings(TwilioSettings)
    given = (settings.sms_auth_token, settings.sms_shared_key)
    secrets = [each.get_secret_value() for each in given if each]
    if not secrets or not settings.callbacks_public_url:
        return None
    return Twilio(secrets, settings.callbacks_public_url)
