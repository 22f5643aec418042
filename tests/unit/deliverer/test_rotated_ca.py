"""A CA file that is replaced counts for the next connection of a channel that runs."""

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import SecretStr

from services.backbone.clock import SystemClock
from services.deliverer.channel import Channel, Message, SendWindow
from services.deliverer.channels.email.channel import EmailChannel
from services.deliverer.channels.email.settings import EmailSettings
from services.deliverer.channels.push.channel import PushChannel
from services.deliverer.channels.push.settings import PushSettings
from services.deliverer.channels.rabbitmq import RabbitmqChannel
from services.deliverer.channels.rabbitmq.links import RabbitmqSettings
from services.deliverer.channels.sms.channel import SmsChannel
from services.deliverer.channels.sms.settings import SmsSettings
from services.deliverer.channels.webhook import WebhookChannel, WebhookSettings
from services.simulator.inbox.apns.account import made_up
from tests.integration.rabbitmq import CERTIFICATE
from tests.unit.deliverer.builders import delivery
from tests.unit.deliverer.test_push_devices import MemoryBook

SECONDS = 30.0
STRANGERS = made_up(SystemClock().now_ms())
CLOCK = SystemClock()


@dataclass
class FarEnd:
    """Ends each connection behind its handshake."""

    port: int = 0
    trusted: int = 0

    async def serve(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.trusted += 1
        writer.close()

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"


def webhook(there: FarEnd, ca_file: str) -> Channel:
    return WebhookChannel(WebhookSettings(webhook_ca_file=ca_file), CLOCK)


def email(there: FarEnd, ca_file: str) -> Channel:
    settings = EmailSettings(email_port=there.port, email_tls="tls", email_ca_file=ca_file)
    return EmailChannel(settings, CLOCK)


def sms(there: FarEnd, ca_file: str) -> Channel:
    settings = SmsSettings(
        sms_account_sid="AC" + "0" * 32,
        sms_auth_token=SecretStr("token"),
        sms_sender="+15005550006",
        sms_api_url=there.url,
        sms_ca_file=ca_file,
    )
    return SmsChannel(settings, CLOCK)


def push(there: FarEnd, ca_file: str) -> Channel:
    settings = PushSettings(
        push_key=SecretStr(STRANGERS.signing_key),
        push_key_id=STRANGERS.key_id,
        push_team_id=STRANGERS.team_id,
        push_topic=STRANGERS.topic,
        push_url=there.url,
        push_ca_file=ca_file,
    )
    return PushChannel(settings, MemoryBook(), CLOCK)


def rabbitmq(there: FarEnd, ca_file: str) -> Channel:
    url = SecretStr(f"amqps://guest:guest@127.0.0.1:{there.port}/")
    return RabbitmqChannel(RabbitmqSettings(rabbitmq_url=url, rabbitmq_ca_file=ca_file))


RECIPIENTS: dict[Callable[[FarEnd, str], Channel], str] = {
    webhook: "https://127.0.0.1:{port}/",
    email: "desk@example.com",
    sms: "+41791234567",
    push: "ab" * 32,
    rabbitmq: "queue",
}


@pytest.mark.parametrize("made", RECIPIENTS, ids=lambda made: made.__name__)
async def test_a_new_ca_is_trusted_by_a_channel_that_runs(
    made: Callable[[FarEnd, str], Channel], tmp_path: Path
) -> None:
    ca_file = tmp_path / "ca.pem"
    ca_file.write_text(STRANGERS.certificate)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(CERTIFICATE)
    there = FarEnd()
    async with await asyncio.start_server(there.serve, "127.0.0.1", 0, ssl=context) as server:
        there.port = server.sockets[0].getsockname()[1]
        channel = made(there, str(ca_file))
        recipient = RECIPIENTS[made].format(port=there.port)
        await sent(channel, recipient)
        assert there.trusted == 0
        ca_file.write_bytes(CERTIFICATE.read_bytes())
        await sent(channel, recipient)
        assert there.trusted
        await channel.close()


async def sent(channel: Channel, recipient: str) -> None:
    window = SendWindow(CLOCK, CLOCK.monotonic_seconds() + SECONDS)
    one = delivery(1, channel.traits.name, recipient)
    async with asyncio.timeout(SECONDS):
        await channel.send(Message(one, 1), window)
