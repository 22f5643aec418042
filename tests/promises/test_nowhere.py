"""What every channel promises where nobody listens, and of recipients that make no sense."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from services.backbone.clock import ManualClock
from services.contracts.records import Severity
from services.deliverer.channel import Channel, Message, SendWindow, TooLate
from services.deliverer.outcomes import Outcome, Permanent, Refused, Unknown
from services.deliverer.wiring import opener
from tests.metrics import ROOT
from tests.promises import nowhere
from tests.promises.nowhere import SECRET
from tests.unit.deliverer.builders import delivery

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

TROUBLES = {
    "DNS": (nowhere.without_name, "name"),
    "TLS": (nowhere.untrusted, "certificate"),
    "connect timeout": (nowhere.silent, "time"),
}
"""Where a provider is looked for, and a word that says what was wrong there."""


@pytest.fixture
async def channel(channel_name: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Channel]:
    """Each channel, told to talk to a port on which nobody listens."""
    with nowhere.closed() as origin:
        told = nowhere.settings(origin)
    async with opened(channel_name, told, monkeypatch) as one:
        yield one


@asynccontextmanager
async def opened(
    name: str, told: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Channel]:
    for setting, value in told.items():
        monkeypatch.setenv(setting, value)
    open_channel = opener(name)
    assert open_channel is not None
    one = open_channel(ManualClock())
    yield one
    await one.close()


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


@pytest.mark.promise("not_taken", "nrdp pagerduty push slack sms webhook")
@pytest.mark.parametrize("trouble", TROUBLES)
async def test_before_a_connection_stands_nothing_is_taken_and_nothing_in_doubt(
    channel_name: str, trouble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, word = TROUBLES[trouble]
    clock = ManualClock()
    window = SendWindow(clock, clock.monotonic_seconds() + 60)
    with place() as origin:
        told = nowhere.settings(origin)
        if place is nowhere.silent:
            told[f"ALDEBARAN_{channel_name.upper()}_CONNECT_TIMEOUT_SECONDS"] = "0.2"
        async with opened(channel_name, told, monkeypatch) as channel:
            to = message(channel_name, RECIPIENTS[channel_name])
            outcome = await sent(channel, to, window)
    assert isinstance(outcome, Refused)
    assert word in outcome.reason.lower()
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


@pytest.mark.promise("permanent", "bus")
@pytest.mark.parametrize(
    "topic",
    ["accounts", "alerts.rejected", "deliveries.bus", "trades.heartbeat", "trades.rejected"],
)
async def test_a_topic_of_ours_is_refused_for_good(
    topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = ManualClock()
    window = SendWindow(clock, clock.monotonic_seconds() + 60)
    with nowhere.closed() as origin:
        told = nowhere.settings(origin)
    async with opened("bus", told, monkeypatch) as channel:
        outcome = await sent(channel, message("bus", topic), window)
    assert isinstance(outcome, Permanent)
    assert "own" in outcome.reason
    assert not window.opened


def test_it_declares_its_own_name(channel_name: str, channel: Channel) -> None:
    assert channel.traits.name == channel_name
    assert channel.unusable() is None


def test_the_page_on_delivery_says_what_it_declares(channel_name: str, channel: Channel) -> None:
    page = (ROOT / "docs/delivery.md").read_text()
    (own,) = re.findall("The channels (.*) have a breaker per recipient", page)
    assert channel.traits.breaker_per_recipient == (f"`{channel_name}`" in own)
    (repeats,) = re.findall(r"\| `in_doubt_repeats` \| (.*?) \|", page)
    of = {names: kind for kind, _, names in (part.partition(": ") for part in repeats.split("; "))}
    said = next((kind for names, kind in of.items() if f"`{channel_name}`" in names), "`[]`")
    declared = {
        '`["critical"]`': frozenset({Severity.CRITICAL}),
        "all": frozenset(Severity),
        "`[]`": frozenset[Severity](),
    }
    assert channel.traits.repeats == declared[said]


def test_a_window_lets_nothing_out_when_it_is_over() -> None:
    clock = ManualClock()
    window = SendWindow(clock, clock.monotonic_seconds() + 10)
    clock.move(10)
    with pytest.raises(TooLate):
        window.open()
    assert not window.opened
    assert window.remaining_seconds() == 0
