"""When doubts are looked up by the defaults: also when absence is proof, never without a source."""

import asyncio
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import RawTestServer
from pydantic import SecretStr

from services.backbone.clock import ManualClock
from services.deliverer.assembly import assemble
from services.deliverer.channel import Absent, Channel, Doubt, Finding, Unclear
from services.deliverer.channels.email.channel import EmailChannel
from services.deliverer.channels.email.settings import EmailSettings
from services.deliverer.channels.log import LogChannel, LogSettings
from services.deliverer.channels.nagios import NagiosChannel, NagiosSettings
from services.deliverer.channels.nrdp.channel import NrdpChannel
from services.deliverer.channels.nrdp.settings import NrdpSettings
from services.deliverer.channels.slack.channel import SlackChannel
from services.deliverer.channels.slack.settings import SlackSettings
from services.deliverer.channels.sms.channel import SmsChannel
from services.deliverer.channels.sms.settings import SmsSettings
from services.deliverer.settings import DelivererSettings
from tests.unit.deliverer.builders import delivery

ROOM = "C0123456789"
SETTINGS = DelivererSettings(channel="any")
Opened = tuple[Channel, float | None]
"""A channel, and after how many seconds since the lease absence is proof."""


def slack_settings(url: str = "http://127.0.0.1:9") -> SlackSettings:
    return SlackSettings(slack_bot_token=SecretStr("xoxb-it"), slack_url=url)


def email() -> Opened:
    settings = EmailSettings(email_relay_log=Path("mail.log"))
    return EmailChannel(settings, ManualClock()), settings.email_absence_seconds


def nrdp() -> Opened:
    settings = NrdpSettings(nrdp_status_url="http://127.0.0.1:9/")
    return NrdpChannel(settings, ManualClock()), settings.nrdp_absence_seconds


def slack() -> Opened:
    settings = slack_settings()
    return SlackChannel(settings, ManualClock()), settings.slack_absence_seconds


def sms() -> Opened:
    settings = SmsSettings(
        sms_account_sid="AC" + "0" * 32,
        sms_auth_token=SecretStr("token"),
        sms_sender="+15550100",
        sms_absence_seconds=60.0,
    )
    return SmsChannel(settings, ManualClock()), float(settings.sms_validity_seconds)


@pytest.mark.parametrize("opened", [email, nrdp, slack, sms])
async def test_a_doubt_is_looked_up_when_absence_is_proof_and_in_time_where_it_can_be(
    opened: Callable[[], Opened],
) -> None:
    """Also one that begins with its claim, as where a provider refuses at once."""
    channel, absence_seconds = opened()
    await channel.close()
    assert absence_seconds is not None
    proof = SETTINGS.lease(channel.traits) + absence_seconds
    deadline, times = SETTINGS.in_doubt_deadline_seconds, channel.traits.look_up_after_seconds
    assert times[-1] >= proof
    assert proof > deadline or any(proof <= each <= deadline for each in times)


async def test_a_channel_that_has_nothing_to_look_into_is_never_asked() -> None:
    clock, spawn = ManualClock(), asyncio.get_running_loop().create_task
    channels: list[EmailChannel | LogChannel | NagiosChannel | NrdpChannel] = [
        EmailChannel(EmailSettings(), clock),
        LogChannel(LogSettings(), clock),
        NagiosChannel(NagiosSettings(nagios_way="command"), clock),
        NrdpChannel(NrdpSettings(), clock),
    ]
    for channel in channels:
        assert isinstance(await channel.look_up(Doubt(delivery(1), 1, 0, 0)), Unclear)
        parts = assemble(SETTINGS, channel, clock, spawn)
        assert parts.reconciler is None
        parts.producer.close(0.0)
        await channel.close()


@pytest.mark.promise("evidence", "slack")
@pytest.mark.parametrize("doubt_after_seconds", [0.0, 0.2, 1.0, 4.0, 15.0, 45.0])
async def test_what_slack_did_not_take_is_proven_absent_before_its_doubt_is_ruled(
    doubt_after_seconds: float,
) -> None:
    async def answer(request: web.BaseRequest) -> web.Response:
        return web.json_response({"ok": True, "messages": [], "has_more": False})

    clock = ManualClock()
    findings: list[Finding] = []
    async with RawTestServer(answer) as history:
        channel = SlackChannel(slack_settings(str(history.make_url("/api"))), clock)
        claimed_ms, lease_seconds = clock.now_ms(), SETTINGS.lease(channel.traits)
        lease_over_ms = claimed_ms + int(lease_seconds * 1000)
        doubt = Doubt(delivery(1, "slack", ROOM), 1, claimed_ms, lease_over_ms)
        clock.move(doubt_after_seconds)
        for before, now in pairwise((0.0, *channel.traits.look_up_after_seconds)):
            clock.move(now - before)
            findings.append(await channel.look_up(doubt))
        await channel.close()
    assert isinstance(findings[-1], Absent)
