"""A slip in a provider's address is found at the start; where it is not, the deliveries wait."""

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from pydantic import SecretStr, ValidationError

from services.backbone.clock import SystemClock
from services.deliverer.channel import Message, SendWindow
from services.deliverer.channels.pagerduty import PagerDutyChannel, PagerDutySettings
from services.deliverer.channels.push.settings import PushSettings
from services.deliverer.channels.slack.channel import SlackChannel
from services.deliverer.channels.slack.settings import SlackSettings
from services.deliverer.outcomes import Outcome, Refused
from tests.unit.deliverer.builders import delivery

SLIPS = [
    "https://slack..com/api",
    f"https://{64 * 'a'}.com/api",
    "https://\N{TWO DOT LEADER}.com/api",
]


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_ends_the_start_of_slack_and_pagerduty(slip: str) -> None:
    with pytest.raises(ValidationError, match="must look like"):
        SlackSettings(slack_bot_token=SecretStr("t"), slack_url=slip)
    with pytest.raises(ValidationError, match="must look like"):
        PagerDutySettings(pagerduty_url=slip)


@pytest.mark.parametrize("slip", [*SLIPS, "https://\N{SNOWMAN}.com"])
def test_push_takes_no_address_that_its_client_does_not_take(slip: str) -> None:
    pem = generate_private_key(SECP256R1()).private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    )
    with pytest.raises(ValidationError, match="push_url"):
        PushSettings(
            push_key_id="A" * 10,
            push_team_id="B" * 10,
            push_key=SecretStr(pem.decode()),
            push_topic="app",
            push_url=slip,
        )


async def sent(channel: SlackChannel | PagerDutyChannel, recipient: str) -> Outcome:
    clock = SystemClock()
    window = SendWindow(clock, clock.monotonic_seconds() + 60)
    message = Message(delivery(1, channel.traits.name, recipient), 1)
    try:
        return await channel.send(message, window)
    finally:
        await channel.close()


@pytest.mark.parametrize("slip", SLIPS)
async def test_what_only_sending_finds_keeps_the_delivery_waiting(slip: str) -> None:
    clock = SystemClock()
    slack = SlackSettings(slack_bot_token=SecretStr("t")).model_copy(update={"slack_url": slip})
    pagerduty = PagerDutySettings(pagerduty_routing_keys={"desk": SecretStr("k")})
    pagerduty = pagerduty.model_copy(update={"pagerduty_url": slip})
    for name, outcome in (
        ("slack_url", await sent(SlackChannel(slack, clock), "C0123456789")),
        ("pagerduty_url", await sent(PagerDutyChannel(pagerduty, clock), "desk")),
    ):
        assert isinstance(outcome, Refused)
        assert outcome.destination_down
        assert name in outcome.reason
