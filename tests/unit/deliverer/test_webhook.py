"""What a webhook's answer means, and how a request is signed."""

from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from services.backbone.settings import EXIT_BAD_SETTINGS, read_settings
from services.deliverer.channels.webhook import WebhookSettings, answered, signed
from services.deliverer.outcomes import Accepted, Permanent, Refused, Unknown
from services.deliverer.posting import retry_after_seconds

NOW_MS = 1_795_253_400_000
Numbers = st.integers(0, 60) | st.integers(-(10**30), 10**30)
Dates = st.builds(
    "{} {} Jan {} {}:{}:{} {}".format,
    *(st.sampled_from(["Thu,", "Thu", "1", ""]), Numbers, Numbers, Numbers, Numbers, Numbers),
    st.sampled_from(["GMT", "-0000", "+9999", "EST", ""]) | Numbers.map("{:+}".format),
)
"""Dates as headers write them, mostly of years and hours that there are not."""


@pytest.mark.promise("in_doubt", "webhook")
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (200, Accepted),
        (202, Accepted),
        (204, Accepted),
        (301, Permanent),
        (307, Permanent),
        (400, Permanent),
        (401, Permanent),
        (404, Permanent),
        (408, Unknown),
        (409, Unknown),
        (410, Permanent),
        (422, Permanent),
        (425, Refused),
        (429, Refused),
        (500, Unknown),
        (502, Unknown),
        (503, Refused),
        (504, Unknown),
    ],
)
def test_statuses_mean_what_the_documentation_says(status: int, kind: type) -> None:
    assert isinstance(answered(status, {}, NOW_MS), kind)


@given(st.integers(100, 999))
def test_only_a_success_is_an_acceptance(status: int) -> None:
    assert isinstance(answered(status, {}, NOW_MS), Accepted) == (200 <= status < 300)


def test_retry_after_is_read_as_seconds_and_as_a_date() -> None:
    later = datetime.fromtimestamp(NOW_MS / 1000 + 90, UTC)
    assert retry_after_seconds("17", NOW_MS) == 17
    assert retry_after_seconds(format_datetime(later, usegmt=True), NOW_MS) == 90
    assert retry_after_seconds(format_datetime(later.replace(year=2001)), NOW_MS) == 0
    assert retry_after_seconds(None, NOW_MS) is None
    outcome = answered(429, {"retry-after": "17"}, NOW_MS)
    assert isinstance(outcome, Refused)
    assert outcome.retry_after_seconds == 17


@given(st.text(max_size=60) | Dates)
@example("Thu, 01 Jan 99999999999 00:00:00 GMT")
def test_any_retry_after_is_read_or_ignored(value: str) -> None:
    found = retry_after_seconds(value, NOW_MS)
    assert found is None or found >= 0


def test_a_signature_is_the_one_of_the_standard_webhooks_specification() -> None:
    headers = signed(
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1614265330,
        b'{"test": 2432232314}',
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    )
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


MISTYPED = [
    "whsec_c2VjcmV0x",
    "whsec_c2Vj cmV0",
    "whsec_c2Vj\u00e9mV0",
    "whsec_c2VjcmV0\n!",
    "whsec_",
    "\udce9t",
]


@pytest.mark.parametrize("secret", MISTYPED)
def test_a_mistyped_secret_ends_the_start_and_no_send_and_is_not_told(
    secret: str, capsys: pytest.CaptureFixture[str]
) -> None:
    targets = {"the-desk": {"url": "https://desk.example", "signing_secret": secret}}
    with pytest.raises(SystemExit) as stopped:
        read_settings(WebhookSettings, webhook_targets=targets, webhook_signing_secret=secret)
    assert stopped.value.code == EXIT_BAD_SETTINGS
    told = capsys.readouterr().err
    assert "ALDEBARAN_WEBHOOK_SIGNING_SECRET: " in told
    assert "ALDEBARAN_WEBHOOK_TARGETS.THE-DESK.SIGNING_SECRET: " in told
    assert "c2Vj" not in told


@pytest.mark.parametrize("secret", ["whsec_c2VjcmV0", "any text", "wh\u00e9"])
def test_a_secret_is_base64_or_any_text(secret: str) -> None:
    settings = WebhookSettings.model_validate({"webhook_signing_secret": secret})
    assert settings.webhook_signing_secret is not None
    assert settings.webhook_signing_secret.get_secret_value() == secret
