"""Twilio's callbacks: who is believed, and what each status proves."""

from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from twilio.request_validator import RequestValidator

from services.backbone.ledger.deliveries.evidence import Evidence, EvidenceKind
from services.callbacks.provider import Callback, Forged, Reading, Told, Unreadable
from services.callbacks.providers.twilio import Twilio, open_provider
from services.contracts.twilio import CALLBACK_OVERRIDES, Fate, callback_address, fate, told
from services.simulator.inbox.texting.callbacks import signature

TOKEN = "12345"
PUBLIC = "https://hooks.example.org/aldebaran"
DELIVERY = "0123456789abcdef0123456789abcdef"
PATH = f"/twilio/{DELIVERY}?attempt=3"
FORM = {"MessageSid": "SM1", "MessageStatus": "sent", "To": "+41791234567", "AccountSid": "AC1"}


def read(
    form: dict[str, str],
    *,
    signed: str | None = None,
    path: str = PATH,
    media_type: str = "application/x-www-form-urlencoded; charset=utf-8",
) -> Reading:
    headers = {
        "content-type": media_type,
        "x-twilio-signature": signature(PUBLIC + PATH, form, TOKEN) if signed is None else signed,
    }
    _, _, query = path.partition("?attempt=")
    callback = Callback(DELIVERY, path, {"attempt": query}, headers, urlencode(form).encode())
    return Twilio([TOKEN], PUBLIC).read(callback)


def test_a_signature_is_the_one_of_twilios_documentation() -> None:
    form = {
        "CallSid": "CA1234567890ABCDE",
        "Caller": "+14158675309",
        "Digits": "1234",
        "From": "+14158675309",
        "To": "+18005551212",
    }
    address = "https://mycompany.com/myapp.php?foo=1&bar=2"
    assert signature(address, form, TOKEN) == "RSOYDt4T1cUTdK1PDd93/VVr8B8="


@given(st.dictionaries(st.text(min_size=1, max_size=20), st.text(max_size=40), max_size=20))
def test_the_stand_in_signs_as_the_library_checks(form: dict[str, str]) -> None:
    expected = RequestValidator(TOKEN).compute_signature(PUBLIC + PATH, form)
    assert signature(PUBLIC + PATH, form, TOKEN) == expected


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("queued", EvidenceKind.TAKEN),
        ("accepted", EvidenceKind.TAKEN),
        ("sending", EvidenceKind.TAKEN),
        ("sent", EvidenceKind.TAKEN),
        ("a-new-one", EvidenceKind.TAKEN),
        ("delivered", EvidenceKind.CONFIRMED),
        ("read", EvidenceKind.CONFIRMED),
        ("undelivered", EvidenceKind.UNDELIVERED),
        ("failed", EvidenceKind.UNDELIVERED),
        ("canceled", EvidenceKind.UNDELIVERED),
    ],
)
def test_a_status_is_evidence(status: str, kind: EvidenceKind) -> None:
    reading = read(FORM | {"MessageStatus": status, "ErrorCode": ""})
    detail = f"Twilio says {status}"
    assert reading == Told((Evidence(DELIVERY, kind, "twilio", "SM1", detail, attempt=3),))


def test_an_error_code_is_told_in_words() -> None:
    assert told("undelivered", "30003") == (
        "Twilio says undelivered, error 30003: the phone cannot be reached just now"
    )
    assert told("failed", "39999") == "Twilio says failed, error 39999"


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_status_and_code_can_be_told(status: str, code: str) -> None:
    assert isinstance(fate(status), Fate)
    assert len(told(status, code)) < 200


@given(st.sampled_from(sorted(FORM)), st.text(min_size=1, max_size=10))
def test_a_form_that_was_changed_is_forged(name: str, more: str) -> None:
    honest = signature(PUBLIC + PATH, FORM, TOKEN)
    assert isinstance(read(FORM | {name: FORM[name] + more}, signed=honest), Forged)
    assert isinstance(read(FORM | {"New" + name: more}, signed=honest), Forged)


def test_a_callback_is_worth_nothing_for_another_delivery_or_try() -> None:
    for path in (PATH.replace("abcdef", "abcde0"), PATH.replace("=3", "=4"), PATH[:-10]):
        assert isinstance(read(FORM, path=path), Forged)


@pytest.mark.parametrize("signed", ["", "x", "RSOYDt4T1cUTdK1PDd93/VVr8B8=", "é" * 28])
def test_other_signatures_are_forged(signed: str) -> None:
    assert isinstance(read(FORM, signed=signed), Forged)
    assert isinstance(read(FORM, signed=signature(PUBLIC + PATH, FORM, "other")), Forged)


def test_the_overrides_may_be_signed_too() -> None:
    address = callback_address(PUBLIC, DELIVERY, 3)
    assert address == f"{PUBLIC}{PATH}#{CALLBACK_OVERRIDES}"
    assert isinstance(read(FORM, signed=signature(address, FORM, TOKEN)), Told)


def test_a_shared_key_signs_by_sha_256() -> None:
    signed = RequestValidator("key-secret").compute_signature(PUBLIC + PATH, FORM, "HMAC_SHA256")
    headers = {
        "content-type": "application/x-www-form-urlencoded",
        "x-twilio-signature": signed,
        "x-twilio-webhooks-signature-settings": "key=SK1,algorithm=HMAC_SHA256",
    }
    callback = Callback(DELIVERY, PATH, {}, headers, urlencode(FORM).encode())
    assert isinstance(Twilio([TOKEN, "key-secret"], PUBLIC).read(callback), Told)
    assert isinstance(Twilio([TOKEN], PUBLIC).read(callback), Forged)
    other = headers | {"x-twilio-webhooks-signature-settings": "algorithm=NONE"}
    callback = Callback(DELIVERY, PATH, {}, other, urlencode(FORM).encode())
    assert isinstance(Twilio([TOKEN, "key-secret"], PUBLIC).read(callback), Forged)


def test_what_is_no_status_callback_cannot_be_read() -> None:
    assert isinstance(read({"To": "+41791234567"}), Unreadable)
    assert isinstance(read(FORM, media_type="application/json"), Unreadable)
    many = {f"Field{number}": "" for number in range(101)}
    assert isinstance(read(many), Unreadable)


@given(st.binary(max_size=200))
def test_any_body_is_read_as_forged_or_unreadable(body: bytes) -> None:
    headers = {"content-type": "application/x-www-form-urlencoded", "x-twilio-signature": "x"}
    reading = Twilio([TOKEN], PUBLIC).read(Callback(DELIVERY, PATH, {}, headers, body))
    assert isinstance(reading, Forged | Unreadable)


def test_without_token_or_address_there_is_no_such_door(monkeypatch: pytest.MonkeyPatch) -> None:
    assert open_provider() is None
    monkeypatch.setenv("ALDEBARAN_SMS_AUTH_TOKEN", TOKEN)
    assert open_provider() is None
    monkeypatch.setenv("ALDEBARAN_CALLBACKS_PUBLIC_URL", PUBLIC)
    assert isinstance(open_provider(), Twilio)
