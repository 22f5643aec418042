"""The SMS channel without a provider: what a thread may still do, and which settings it takes."""

import threading

import pytest
from pydantic import ValidationError

from services.backbone.clock import ManualClock
from services.deliverer.channel import SendWindow, TooLate
from services.deliverer.channels.sms.channel import Gate
from services.deliverer.channels.sms.settings import SmsSettings

ACCOUNT = "AC" + "0" * 32


def window() -> SendWindow:
    clock = ManualClock()
    return SendWindow(clock, clock.monotonic_seconds() + 60)


def test_what_was_given_up_before_its_first_byte_lets_nothing_out() -> None:
    opened = window()
    gate = Gate(opened)
    gate.shut()
    with pytest.raises(TooLate):
        gate.open()
    assert not opened.opened


def test_either_the_byte_leaves_or_the_gate_is_shut_never_both_unseen() -> None:
    for _ in range(50):
        opened = window()
        gate = Gate(opened)
        results: list[bool] = []

        def go_out(gate: Gate = gate, results: list[bool] = results) -> None:
            try:
                gate.open()
                results.append(True)
            except TooLate:
                results.append(False)

        thread = threading.Thread(target=go_out)
        thread.start()
        gate.shut()
        seen = opened.opened
        thread.join()
        assert results == [seen]


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"sms_auth_token": "t"}, "set sms_sender, or sms_messaging_service"),
        ({"sms_sender": "+15005550006"}, "set sms_auth_token, or sms_api_key"),
        ({"sms_sender": "+15005550006", "sms_api_key": "SK" + "0" * 32}, "go together"),
        ({"sms_sender": "+1 500", "sms_auth_token": "t"}, "sms_sender"),
        ({"sms_api_url": "api.twilio.com"}, "sms_api_url"),
        ({"callbacks_public_url": "https://a.example/#x"}, "callbacks_public_url"),
    ],
)
def test_settings_that_cannot_work_are_refused(settings: dict[str, str], complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint):
        SmsSettings.model_validate({"sms_account_sid": ACCOUNT} | settings)


def test_an_api_key_logs_in_instead_of_the_token() -> None:
    key = {"sms_api_key": "SK" + "0" * 32, "sms_api_key_secret": "s"}
    settings = SmsSettings.model_validate(
        {"sms_account_sid": ACCOUNT, "sms_messaging_service": "MG" + "0" * 32} | key
    )
    assert settings.login == ("SK" + "0" * 32, "s")
