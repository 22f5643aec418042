"""An answer whose status is there and whose body is not: where the status decides, it stands."""

import asyncio
import random
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from unittest.mock import patch

import httpx2
import pytest
from pydantic import SecretStr

from services.backbone.certificates import Certificates
from services.backbone.clock import Clock, SystemClock
from services.backbone.ledger.deliveries.claims import Claim, Settlement
from services.contracts.states import State
from services.deliverer.assembly import assemble
from services.deliverer.channel import Channel, SendWindow
from services.deliverer.channels.nrdp.channel import NrdpChannel
from services.deliverer.channels.nrdp.settings import NrdpSettings
from services.deliverer.channels.pagerduty import PagerDutyChannel, PagerDutySettings
from services.deliverer.channels.push.channel import PushChannel
from services.deliverer.channels.push.lines import Line, Lines
from services.deliverer.channels.push.settings import PushSettings
from services.deliverer.channels.slack.channel import SlackChannel
from services.deliverer.channels.slack.settings import SlackSettings
from services.deliverer.channels.webhook import WebhookChannel, WebhookSettings
from services.deliverer.recorder import Recorder
from services.deliverer.settings import DelivererSettings
from services.simulator.inbox.apns.account import made_up
from tests.unit.deliverer.builders import delivery
from tests.unit.deliverer.test_dispatcher import Silent
from tests.unit.deliverer.test_push_devices import MemoryBook

SECONDS = 20.0
TOKEN = "a" * 64


@dataclass
class Kept(Recorder):
    """Keeps what it is given."""

    kept: list[Settlement] = field(default_factory=list)

    async def record(self, settlement: Settlement) -> State:
        self.kept.append(settlement)
        return State.CLAIMED


@asynccontextmanager
async def far_end(status: int) -> AsyncIterator[str]:
    """Answer each request with a status, and with the beginning of a body that never ends."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(65536)
        writer.write(b"HTTP/1.1 %d Word\r\nContent-Length: 100\r\n\r\n{" % status)
        while await reader.read(65536):
            pass
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


def opened(channel: str, url: str, clock: Clock) -> tuple[Channel, str]:
    """Return a channel to there, and a recipient."""
    secret = SecretStr("0123456789abcdef0123456789abcdef")
    match channel:
        case "webhook":
            return WebhookChannel(WebhookSettings(), clock), url
        case "slack":
            slack = SlackSettings(slack_bot_token=secret, slack_url=url)
            return SlackChannel(slack, clock), "C0123456789"
        case "nrdp":
            return NrdpChannel(NrdpSettings(nrdp_url=url), clock), "host/service"
    keys = {"desk": secret}
    pager = PagerDutySettings(pagerduty_url=url, pagerduty_routing_keys=keys)
    return PagerDutyChannel(pager, clock), "desk"


async def cut_off(name: str, channel: Channel, recipient: str, clock: Clock) -> Settlement:
    """Send, and stop as soon as the status is there; return what is recorded."""
    settings = DelivererSettings(channel=name)
    parts = assemble(settings, channel, clock, asyncio.get_running_loop().create_task)
    sender, recorder = parts.dispatcher.sender, Kept(parts.recorder.claims, clock, random.Random(1))
    sender.recorder, sender.announcer = recorder, Silent()
    one = delivery(1, name, recipient)
    ids = (one.delivery_id, one.alert.alert_id, name, recipient, one.encode().decode())
    claim = Claim(*ids, State.PENDING, attempt=1, fence=1, marked_repeat=False)
    window = SendWindow(clock, clock.monotonic_seconds() + SECONDS)
    standing = parts.dispatcher.places.take(channel.traits.destination(recipient))
    async with asyncio.timeout(SECONDS), asyncio.TaskGroup() as group:
        group.create_task(sender.deliver(claim, standing, window))
        await at_the_body(window)
        sender.cut_off()
    await channel.close()
    parts.producer.close(0.0)
    (kept,) = recorder.kept
    return kept


async def at_the_body(window: SendWindow) -> None:
    """Wait until the status is there."""
    while window.decided is None:
        await asyncio.sleep(0.005)


@pytest.mark.parametrize(
    ("channel", "status", "outcome"),
    [
        ("webhook", 200, State.SENT),
        ("webhook", 404, State.FAILED),
        ("webhook", 429, State.RETRY_WAIT),
        ("pagerduty", 202, State.SENT),
        ("pagerduty", 429, State.RETRY_WAIT),
        ("slack", 429, State.RETRY_WAIT),
        ("nrdp", 503, State.RETRY_WAIT),
    ],
)
async def test_a_stop_makes_no_doubt_of_a_status_that_was_read(
    channel: str, status: int, outcome: State
) -> None:
    clock = SystemClock()
    async with far_end(status) as url:
        kept = await cut_off(channel, *opened(channel, url, clock), clock)
    assert kept.outcome is outcome
    assert "told to stop" not in kept.reason


async def endless() -> AsyncIterator[bytes]:
    yield b"{"
    await asyncio.Event().wait()


async def answer(request: httpx2.Request) -> httpx2.Response:
    await request.extensions["trace"]("http2.send_request_headers.started", {"stream_id": 1})
    return httpx2.Response(int(request.headers["apns-topic"]), content=endless())


@pytest.mark.parametrize(
    ("status", "outcome"),
    [(200, State.SENT), (410, State.FAILED), (503, State.RETRY_WAIT), (403, State.RETRY_WAIT)],
)
async def test_a_stop_makes_no_doubt_of_a_status_from_apple(status: int, outcome: State) -> None:
    clock = SystemClock()
    account = made_up(clock.now_ms())
    settings = PushSettings(
        push_key=SecretStr(account.signing_key),
        push_key_id=account.key_id,
        push_team_id=account.team_id,
        push_topic=str(status),
    )
    client = httpx2.AsyncClient(base_url="https://x", transport=httpx2.MockTransport(answer))
    tls = ssl.create_default_context()
    with (
        patch.object(Certificates, "tls", lambda _: tls),
        patch.object(Lines, "_opened", lambda _: Line(client, tls)),
    ):
        kept = await cut_off("push", PushChannel(settings, MemoryBook(), clock), TOKEN, clock)
    assert kept.outcome is outcome
