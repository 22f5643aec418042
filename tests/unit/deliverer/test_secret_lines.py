"""What a channel sends of its settings can be sent: else it ends at the start, and says which."""

import json

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from services.backbone.settings import EXIT_BAD_SETTINGS, Settings, read_settings
from services.deliverer.channels.bus import BusSettings
from services.deliverer.channels.email.settings import EmailSettings
from services.deliverer.channels.nrdp.settings import NrdpSettings
from services.deliverer.channels.pagerduty import PagerDutySettings
from services.deliverer.channels.push.settings import PushSettings
from services.deliverer.channels.slack.settings import SlackSettings
from services.deliverer.channels.sms.settings import SmsSettings
from services.deliverer.posting import open_web

SENT = [
    (BusSettings, "bus_sasl_password"),
    (EmailSettings, "email_password"),
    (NrdpSettings, "nrdp_password"),
    (NrdpSettings, "nrdp_status_password"),
    (NrdpSettings, "nrdp_token"),
    (NrdpSettings, "nrdp_username"),
    (NrdpSettings, "nrdp_status_username"),
    (PagerDutySettings, "pagerduty_routing_keys"),
    (SlackSettings, "slack_bot_token"),
    (SmsSettings, "sms_api_key_secret"),
    (SmsSettings, "sms_auth_token"),
]


def refused(kind: type[Settings], name: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as stopped:
        read_settings(kind)
    assert stopped.value.code == EXIT_BAD_SETTINGS
    told = capsys.readouterr().err
    assert f"ALDEBARAN_{name.upper()}" in told
    return told


@pytest.mark.parametrize(("kind", "name"), SENT)
@pytest.mark.parametrize("said", ["hunter2\nhunter3", "hunter2\x7fhunter3", "hunter2\rhunter3\n"])
def test_a_line_end_inside_of_what_is_sent_is_refused_by_name(
    kind: type[Settings],
    name: str,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    by_name = name == "pagerduty_routing_keys"
    monkeypatch.setenv(
        f"ALDEBARAN_{name.upper()}", json.dumps({"on-call": said}) if by_name else said
    )
    assert "hunter" not in refused(kind, name, capsys)


def test_a_token_with_the_line_end_of_its_file_can_be_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ALDEBARAN_SLACK_BOT_TOKEN", "xoxb-1\n")
    assert read_settings(SlackSettings).slack_bot_token.get_secret_value() == "xoxb-1"


@pytest.mark.parametrize("name", ["nrdp_username", "nrdp_status_username"])
def test_a_user_with_a_colon_is_refused_by_name(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(f"ALDEBARAN_{name.upper()}", "nagios:admin")
    assert "has no colon" in refused(NrdpSettings, name, capsys)


async def test_any_other_user_can_be_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALDEBARAN_NRDP_USERNAME", " nágios admin\n")
    monkeypatch.setenv("ALDEBARAN_NRDP_PASSWORD", "p:€ss\n")
    settings = read_settings(NrdpSettings)
    assert settings.nrdp_username == "nágios admin"
    login = settings.nrdp_username, settings.nrdp_password.get_secret_value()
    async with open_web(connect_timeout_seconds=5, ca_file=None, login=login) as web:
        assert "Authorization" in web.headers


def test_the_lines_of_apples_key_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    key = generate_private_key(SECP256R1())
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    monkeypatch.setenv("ALDEBARAN_PUSH_KEY", f"\n{pem}\n")
    said = {"push_key_id": "ABCDEFGHIJ", "push_team_id": "ABCDEFGHIJ", "push_topic": "app"}
    settings = read_settings(PushSettings, **said)
    assert settings.push_key is not None
    assert settings.push_key.get_secret_value() == pem.strip()
    assert settings.signing_key().private_numbers() == key.private_numbers()
