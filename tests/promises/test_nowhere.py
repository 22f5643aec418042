"""What every channel promises where nobody listens, and of recipients that make no sense."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from services.backbone.clock import ManualClock
from services.deliverer.channel import Channel, Message, SendWindow, TooLate
from services.deliverer.outcomes import Outcome, Permanent, Refused, Unknown
from services.deliverer.wiring import opener
from services.machine.ports import free_ports
from services.simulator.inbox.apns.account import made_up
from tests.unit.deliverer.builders import delivery

SECRET = "very-secret-1234"
RECIPIENTS = {
    "bus": "notifications",
    "email": "desk@example.com",
    "pagerduty": "on-call",
    "push": "on-call",
    "log": "anybody",
    "nagios": "aldebaran/too-many",
    "nrdp": "aldebaran/too-many",
    "rabbitmq": "alerts/desk",
    "slack": "on-call",
    "sms": "+41791234567",
    "webhook": "the-desk",
}
NONSENSE = {
    "bus": "no topic!",
    "email": "desk@example.com\r\nRCPT",
    "pagerduty": SECRET.upper(),
    "push": "Somebody's phone",
    "log": "\n",
    "nagios": "aldebaran/",
    "nrdp": "/too-many",
    "rabbitmq": "/",
    "slack": "#on-call",
    "sms": "0791234567",
    "webhook": "ftp://x",
}


@pytest.fixture
async def channel(channel_name: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Channel]:
    """Each channel, told to talk to a port on which nobody listens."""
    (port,) = free_ports(1)
    target = f'{{"the-desk": {{"url": "http://127.0.0.1:{port}/{SECRET}"}}}}'
    for setting, value in {
        "KAFKA_BOOTSTRAP_SERVERS": f"127.0.0.1:{port}",
        "SEND_TIMEOUT_SECONDS": "0.5",
        "RABBITMQ_URL": f"amqp://aldebaran:{SECRET}@127.0.0.1:{port}/",
        "NAGIOS_SPOOL": "/nowhere/checkresults",
        "NRDP_URL": f"http://127.0.0.1:{port}/nrdp/",
        "NRDP_TOKEN": SECRET,
        "LOG_CHANNEL_FILE": "/nowhere/deliveries.jsonl",
        "EMAIL_PORT": str(port),
        "EMAIL_USERNAME": "aldebaran",
        "EMAIL_PASSWORD": SECRET,
        "PAGERDUTY_ROUTING_KEYS": f'{{"on-call": "{SECRET}"}}',
        "PAGERDUTY_URL": f"http://127.0.0.1:{port}",
        "SLACK_BOT_TOKEN": SECRET,
        "SLACK_CHANNELS": '{"on-call": "C0123456789"}',
        "SLACK_URL": f"http://127.0.0.1:{port}",
        "SMS_ACCOUNT_SID": "AC" + "0" * 32,
        "SMS_AUTH_TOKEN": SECRET,
        "SMS_SENDER": "+15005550006",
        "SMS_API_URL": f"http://127.0.0.1:{port}",
        "POSTGRES_URL": f"postgresql://aldebaran:{SECRET}@127.0.0.1:{port}/aldebaran",
        "PUSH_URL": f"https://127.0.0.1:{port}",
        "PUSH_KEY": made_up(ManualClock().now_ms()).signing_key,
        "PUSH_KEY_ID": "ABCDEFGHIJ",
        "PUSH_TEAM_ID": "ABCDEFGHIJ",
        "PUSH_TOPIC": "org.example.app",
        "PUSH_DEVICES": f'{{"on-call": {{"token": "{"ab" * 32}"}}}}',
        "WEBHOOK_TARGETS": target,
        "WEBHOOK_SIGNING_SECRET": SECRET,
    }.items():
        monkeypatch.setenv("ALDEBARAN_" + setting, value)
    open_channel = opener(channel_name)
    assert open_channel is not None
    opened = open_channel(ManualClock())
    yield opened
    await opened.close()


def message(name: str, recipient: str) -> Message:
    return Message(delivery(1, channel=name, recipient=recipient), attempt=1)


async def sent(channel: Channel, message: Message, window: SendWindow) -> Outcome:
    async with asyncio.timeout(30):
        return await channel.send(message, window)


@pytest.mark.promise("in_doubt", "bus")
@pytest.mark.promise("not_taken", "email log nagios nrdp pagerduty push rabbitmq slack sms webhook")
async def test_where_nobody_listens_nothing_is_taken_and_no_secret_is_told(
    channel_name: str, channel: Channel
) -> None:
    clock = ManualClock()
    window = SendWindow(clock, clock.monotonic_seconds() + 60)
    outcome = await sent(channel, message(channel_name, RECIPIENTS[channel_name]), window)
    if isinstance(outcome, Unknown):
        assert channel.traits.dedupes_by_key
    else:
        assert isinstance(outcome, Refused)
        assert outcome.destination_down
        assert not window.opened
    assert SECRET not in repr(outcome)


@pytest.mark.promise("recipient", "every")
@pytest.mark.promise("permanent", "every")
async def test_a_recipient_that_makes_no_sense_is_refused_for_good(
    channel_name: str, channel: Channel
) -> None:
    clock = ManualClock()
    window = SendWindow(clock, clock.monotonic_seconds() + 60)
    outcome = await sent(channel, message(channel_name, NONSENSE[channel_name]), window)
    assert isinstance(outcome, Permanent)
    assert not window.opened


def test_it_declares_its_own_name(channel_name: str, channel: Channel) -> None:
    assert channel.traits.name == channel_name
    assert channel.unusable() is None


def test_a_window_lets_nothing_out_when_it_is_over() -> None:
    clock = ManualClock()
    window = SendWindow(clock, clock.monotonic_seconds() + 10)
    clock.move(10)
    with pytest.raises(TooLate):
        window.open()
    assert not window.opened
    assert window.remaining_seconds() == 0
