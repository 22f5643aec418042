"""A named target: it can be used or is refused at the start, and its address is told nowhere."""

import asyncio
import base64
from urllib.parse import quote

import aiohttp
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from services.backbone.clock import SystemClock
from services.backbone.settings import EXIT_BAD_SETTINGS, read_settings
from services.deliverer.channel import Message, SendWindow
from services.deliverer.channels.webhook import WebhookChannel, WebhookSettings, WebhookTarget
from services.deliverer.outcomes import Accepted, Outcome, Permanent, Refused
from services.deliverer.posting import NoAddress, address, trouble_of
from tests.unit.deliverer.answers import answering
from tests.unit.deliverer.builders import delivery

UNUSABLE = [
    "https://bot:hunter€2@hooks.example.com/x",
    "https://bot:hunter%E2%82%AC2@hooks.example.com/x",
    "https://bo%3At:hunter2@hooks.example.com/x",
    "https://bot:hunter2/x@hooks.example.com/x",
    "https://bot:hunter2?x@hooks.example.com/x",
    "https://bot:hunter2#x@hooks.example.com/x",
    "https://bot:hunter2\\x@hooks.example.com/x",
    "bot:hunter2@hooks.example.com/x",
    "hooks.example.com/hunter2",
    "ftp://hooks.example.com/hunter2",
    "https:///hunter2",
]

Text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
Plain = st.text("abc:@/€é ", max_size=6)


def channel(**targets: str) -> WebhookChannel:
    told = {name: {"url": url} for name, url in targets.items()}
    return WebhookChannel(WebhookSettings.model_validate({"webhook_targets": told}), SystemClock())


async def sent(through: WebhookChannel, recipient: str) -> Outcome:
    clock = SystemClock()
    window = SendWindow(clock, clock.monotonic_seconds() + 10.0)
    outcome = await through.send(Message(delivery(1, recipient=recipient), 1), window)
    await through.close()
    return outcome


@pytest.mark.parametrize("url", UNUSABLE)
def test_an_address_that_cannot_be_used_ends_the_start_and_is_not_told(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        read_settings(WebhookSettings, webhook_targets={"the-desk": {"url": url}})
    assert stopped.value.code == EXIT_BAD_SETTINGS
    told = capsys.readouterr().err
    assert "ALDEBARAN_WEBHOOK_TARGETS.THE-DESK.URL: " in told
    assert "hunter2" not in told
    assert "hooks" not in told


@pytest.mark.parametrize("url", UNUSABLE)
async def test_the_same_as_a_recipient_fails_its_delivery_and_not_the_program(url: str) -> None:
    assert isinstance(await sent(channel(), url), Permanent)


@given(Text | Plain, Text | Plain)
@example("bot", "p€ss")
@example("b:ot", "")
def test_a_login_is_taken_if_http_can_carry_it(user: str, password: str) -> None:
    url = f"https://{quote(user, safe='')}:{quote(password, safe='')}@hooks.example.com/x"
    if ":" in user or any(ord(sign) > 0xFF for sign in user + password):
        with pytest.raises(NoAddress):
            address(url)
        with pytest.raises(ValidationError):
            WebhookTarget.model_validate({"url": url})
    else:
        taken = address(url)
        assert (taken.user or "", taken.password or "") == (user, password)
        assert WebhookTarget.model_validate({"url": url}).url.get_secret_value() == url


async def test_a_login_is_sent_as_it_was_meant() -> None:
    came: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(answering(b""))
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        url = f"http://bot:p%2F%3F%23%40%5C%25:é@127.0.0.1:{port}/x\n"
        assert await sent(channel(desk=url), "desk") == Accepted()
    login = base64.b64encode("bot:p/?#@\\%:é".encode("latin1"))
    assert b"Authorization: Basic " + login in came[0]


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "127.0.0.1", "[::1]"])
async def test_where_nobody_listens_the_reason_names_the_target_only(host: str) -> None:
    async with await asyncio.start_server(lambda *_: None, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
    outcome = await sent(channel(desk=f"http://u:hunter2@{host}:{port}/hunter3"), "desk")
    assert isinstance(outcome, Refused)
    assert "Cannot connect to host desk:" in outcome.reason or "[desk]" in outcome.reason
    for secret in ("localhost", "127.0.0.1", "::1", "hunter"):
        assert secret not in outcome.reason.lower()


async def test_a_host_that_there_is_not_is_not_told() -> None:
    outcome = await sent(channel(desk="https://eos3cret.invalid/x"), "desk")
    assert isinstance(outcome, Refused)
    assert "eos3cret" not in outcome.reason
    assert "desk" in outcome.reason


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Cannot connect to host b.example:443", "Cannot connect to host desk:443"),
        ("not valid for 'B.Example'", "not valid for 'desk'"),
        ("timeout to host https://b.example/very-secret", "timeout to host https://desk"),
        ("Connect call failed ('192.0.2.7', 443)", "Connect call failed"),
        ("Connect call failed ('2001:db8::7', 443, 0, 0)", "Connect call failed"),
        ("ab.example, b.example-b and b.example.", "ab.example, b.example-b and desk."),
    ],
)
def test_of_a_hidden_address_the_name_is_told(said: str, told: str) -> None:
    error = aiohttp.ClientError(said)
    hidden = trouble_of(error, "https://b.example/very-secret", "desk")
    assert hidden == f"ClientError: {told}"


def test_an_international_host_is_hidden_in_both_spellings() -> None:
    error = aiohttp.ClientError("host bücher.example or xn--bcher-kva.example")
    told = trouble_of(error, "https://bücher.example/x", r"\1desk")
    assert told == r"ClientError: host \1desk or \1desk"
