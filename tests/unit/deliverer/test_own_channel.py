"""docs/own-channel.md: its example is a whole channel, opened as the deliverer opens any."""

import json
import re
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import RawTestServer

from services.backbone.clock import SystemClock
from services.deliverer import channels
from services.deliverer.channel import Channel, Message, OpenChannel, SendWindow
from services.deliverer.outcomes import Accepted, Outcome, Permanent, Refused, Unknown
from services.deliverer.wiring import opener, promise_of
from services.lookout.routes.reading import read_routes
from services.machine.ports import free_ports
from tests.promises.lines import LINES
from tests.unit.deliverer.builders import delivery

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "own-channel.md"
EXAMPLE = ROOT / "docs" / "examples" / "own-channel" / "mattermost.py"
SECRET = "xxx-generatedkey-xxx"
STATUSES = {"desk": 200, "gone": 404, "busy": 503, "slow": 504, "many": 429, "page": 202}
"""What Mattermost answers, by the name of the hook; of others it reads the request and hangs up."""


class Mattermost:
    """Keeps what was posted, by hook."""

    def __init__(self) -> None:
        self.came: dict[str, list[str]] = {}

    async def serve(self, request: web.BaseRequest) -> web.StreamResponse:
        hook = request.path.rpartition("/")[2]
        assert request.content_type == "application/json"
        self.came.setdefault(hook, []).append((await request.json())["text"])
        if hook not in STATUSES and request.transport is not None:
            request.transport.abort()
        return web.Response(text="ok", status=STATUSES.get(hook, 200), headers={"Retry-After": "7"})


@pytest.fixture
def open_mattermost(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenChannel]:
    """The example lies where channels are, as after it was copied there."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(channels, "__path__", [*channels.__path__, str(EXAMPLE.parent)])
    opens = opener("mattermost")
    assert opens is not None
    yield opens
    del sys.modules[f"{channels.__name__}.mattermost"]
    delattr(channels, "mattermost")


@asynccontextmanager
async def opened(
    opens: OpenChannel, origin: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Channel]:
    hooks = {name: f"{origin}/hooks/{SECRET}/{name}" for name in (*STATUSES, "dead")}
    monkeypatch.setenv("ALDEBARAN_MATTERMOST_HOOKS", json.dumps(hooks | {"odd": "ftp://x"}))
    channel = opens(SystemClock())
    yield channel
    await channel.close()


async def sent(channel: Channel, hook: str, *, marked: bool = False) -> tuple[Outcome, SendWindow]:
    clock = SystemClock()
    window = SendWindow(clock, clock.monotonic_seconds() + 10)
    message = Message(delivery(1, "mattermost", hook), attempt=1, marked_repeat=marked)
    return await channel.send(message, window), window


async def test_each_answer_comes_to_what_the_page_says(
    open_mattermost: OpenChannel, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = Mattermost()
    said = "Mattermost answered HTTP"
    async with RawTestServer(there.serve) as server:
        origin = str(server.make_url("")).rstrip("/")
        async with opened(open_mattermost, origin, monkeypatch) as channel:
            outcomes = {hook: await sent(channel, hook) for hook in (*STATUSES, "dead")}
            repeated, _ = await sent(channel, "desk", marked=True)
    lost, _ = outcomes.pop("dead")
    assert isinstance(lost, Unknown)
    assert SECRET not in lost.reason
    assert {hook: outcome for hook, (outcome, _) in outcomes.items()} == {
        "desk": Accepted(),
        "gone": Permanent(f"{said} 404"),
        "busy": Refused(f"{said} 503", 7.0, destination_down=True),
        "slow": Unknown(f"{said} 504"),
        "many": Refused(f"{said} 429", 7.0),
        "page": Unknown(f"{said} 202"),
    }
    assert all(window.opened for _, window in outcomes.values())
    assert {hook: len(texts) for hook, texts in there.came.items()} == {
        **dict.fromkeys((*STATUSES, "dead"), 1),
        "desk": 2,
    }
    first, marked = there.came["desk"]
    assert first.endswith(f"`{delivery(1, 'mattermost', 'desk').delivery_id}`")
    assert isinstance(repeated, Accepted)
    assert marked.startswith("**[possible repeat] ")


async def test_what_cannot_be_sent_leaves_no_byte_and_no_secret(
    open_mattermost: OpenChannel, monkeypatch: pytest.MonkeyPatch
) -> None:
    nobody = f"http://127.0.0.1:{free_ports(1)[0]}"
    async with opened(open_mattermost, nobody, monkeypatch) as channel:
        outcomes = [await sent(channel, hook) for hook in ("desk", "unknown", "odd")]
    kinds = [type(outcome) for outcome, _ in outcomes]
    assert kinds == [Refused, Permanent, Permanent]
    assert not any(window.opened for _, window in outcomes)
    assert SECRET not in repr(outcomes)


async def test_it_declares_what_every_channel_does(
    open_mattermost: OpenChannel, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(open_mattermost, "http://127.0.0.1:1", monkeypatch) as channel:
        assert channel.traits.name == "mattermost"
        assert channel.traits.names == frozenset({*STATUSES, "dead", "odd"})
        assert channel.traits.promise is promise_of("mattermost")
        assert channel.unusable() is None
    assert all(getattr(promise_of("mattermost"), line).strip() for line in LINES)


def test_the_page_shows_the_example_and_routes_that_the_lookout_takes() -> None:
    text = PAGE.read_text("utf-8")
    (code,) = blocks("python", text)
    assert code == EXAMPLE.read_text("utf-8"), "docs/own-channel.md has another mattermost.py"
    routes, settings, _ = blocks("yaml", text)
    assert read_routes(routes, ["bus", "webhook", "email", "mattermost"], {}).roots
    assert "channels: [bus, webhook, email, mattermost]" in settings


def blocks(language: str, text: str) -> list[str]:
    """Return the code of one language that a page shows."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)
