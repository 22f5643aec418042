"""Twilio's list as a witness, and connections that stall, against real sockets."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from services.backbone.clock import SystemClock
from services.contracts.records import Delivery
from services.deliverer.channel import (
    Absent,
    Doubt,
    Finding,
    Message,
    SendWindow,
    Taken,
    TooLate,
    Unclear,
)
from services.deliverer.channels.sms.channel import SmsChannel
from services.deliverer.channels.sms.settings import SmsSettings
from services.deliverer.outcomes import Outcome, Refused, Unknown
from services.machine.ports import free_ports
from tests.integration.deliverer.inboxes import Inbox, playing
from tests.integration.deliverer.texting import ACCOUNT, TOKEN, text

Open = Callable[..., SmsChannel]
CLOCK = SystemClock()


@pytest.fixture
def inbox(tmp_path: Path) -> Iterator[Inbox]:
    with playing(tmp_path / "inbox") as inbox:
        yield inbox


@pytest.fixture
async def opened(inbox: Inbox) -> AsyncIterator[Open]:
    channels: list[SmsChannel] = []

    def open_one(**more: object) -> SmsChannel:
        settings = {
            "sms_account_sid": ACCOUNT,
            "sms_auth_token": TOKEN,
            "sms_sender": "+15005550006",
            "sms_api_url": inbox.url,
        }
        channels.append(SmsChannel(SmsSettings.model_validate(settings | more), CLOCK))
        return channels[-1]

    yield open_one
    for each in channels:
        await each.close()


def window() -> SendWindow:
    return SendWindow(CLOCK, CLOCK.monotonic_seconds() + 60)


async def look_up(channel: SmsChannel, one: Delivery, lease_seconds: float = 60) -> Finding:
    now_ms = CLOCK.now_ms()
    return await channel.look_up(Doubt(one, 1, now_ms - 1000, now_ms + int(lease_seconds * 1000)))


async def send(channel: SmsChannel, one: Delivery) -> None:
    await channel.send(Message(one, 1), window())


async def test_what_was_taken_is_found_among_many_of_the_same_number(
    opened: Open, inbox: Inbox
) -> None:
    channel = opened()
    inbox.dial("twilio", accept_then_drop_share=1)
    assert isinstance(await channel.send(Message(text(0), 1), window()), Unknown)
    inbox.dial("twilio", accept_then_drop_share=0)
    for number in range(1, 250):
        await send(channel, text(number))
    found = await look_up(channel, text(0))
    assert isinstance(found, Taken), "it is on the second page"
    assert found.provider_id.startswith("SM")
    assert isinstance(await look_up(channel, text(999)), Unclear)


async def test_a_list_that_is_late_proves_nothing(opened: Open, inbox: Inbox) -> None:
    inbox.dial("twilio", list_hides_seconds=600)
    channel = opened()
    await send(channel, text(1))
    assert isinstance(await look_up(channel, text(1)), Unclear)


@pytest.mark.promise("evidence", "sms")
async def test_absence_is_proof_only_where_the_setting_says_so(opened: Open) -> None:
    channel = opened(sms_absence_seconds=10, sms_validity_seconds=20)
    assert channel.traits.look_up_after_seconds[-3:] == (110, 620, 3620)
    assert isinstance(await look_up(channel, text(1), lease_seconds=-15), Unclear)
    assert isinstance(await look_up(channel, text(1), lease_seconds=-21), Absent)


async def test_where_twilio_cannot_be_asked_nothing_is_found(opened: Open) -> None:
    (port,) = free_ports(1)
    for trouble in ({"sms_auth_token": "old"}, {"sms_api_url": f"http://127.0.0.1:{port}"}):
        found = await look_up(opened(**trouble), text(1))
        assert isinstance(found, Unclear)
        assert TOKEN not in found.detail


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """A listener with which connections are made, and which never says anything."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        yield listening


def port_of(listening: socket.socket) -> int:
    port: int = listening.getsockname()[1]
    return port


async def test_a_stalled_handshake_has_sent_nothing(opened: Open, silent: socket.socket) -> None:
    url = f"https://127.0.0.1:{port_of(silent)}"
    channel = opened(sms_api_url=url, sms_connect_timeout_seconds=0.2)
    right = window()
    outcome = await channel.send(Message(text(1), 1), right)
    assert isinstance(outcome, Refused)
    assert outcome.destination_down
    assert not right.opened


async def test_silence_after_the_request_is_a_doubt(opened: Open, silent: socket.socket) -> None:
    channel = opened(sms_api_url=f"http://127.0.0.1:{port_of(silent)}")
    outcome: Outcome | None = None
    for seconds in (1, 10, 60):  # a busy machine may need more to connect and write
        right = SendWindow(CLOCK, CLOCK.monotonic_seconds() + seconds)
        with suppress(TooLate):
            outcome = await channel.send(Message(text(1), 1), right)
        if right.opened:
            break
    assert right.opened
    assert isinstance(outcome, Unknown)


async def test_a_send_given_up_while_it_connects_never_goes_out(
    opened: Open, silent: socket.socket
) -> None:
    url = f"https://127.0.0.1:{port_of(silent)}"
    channel = opened(sms_api_url=url)
    right = window()
    sending = asyncio.create_task(channel.send(Message(text(1), 1), right))
    connection, _ = await asyncio.get_running_loop().sock_accept(silent)
    with connection:
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
    assert not right.opened


async def test_a_window_that_is_over_lets_nothing_out(opened: Open, silent: socket.socket) -> None:
    channel = opened(sms_api_url=f"http://127.0.0.1:{port_of(silent)}")
    late = SendWindow(CLOCK, CLOCK.monotonic_seconds() - 1)
    with suppress(TooLate):
        assert isinstance(await channel.send(Message(text(1), 1), late), Refused)
    assert not late.opened
    connection, _ = await asyncio.get_running_loop().sock_accept(silent)
    with connection:
        assert connection.recv(1) == b"", "closed without a byte"
