"""What is known of a request when it fails, against a far end that does as it is told."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.backbone.clock import ManualClock
from services.deliverer.channel import SendWindow, TooLate
from services.deliverer.outcomes import Refused, Unknown
from services.deliverer.posting import (
    NoAddress,
    address,
    answer_bytes,
    answer_object,
    ask,
    failed,
    open_web,
    post,
)
from tests.unit.deliverer.answers import answering

LIMIT = 100


@dataclass
class FarEnd:
    """Keeps what came, and answers a request, or hangs up."""

    answer: bytes | None
    came: list[bytes] = field(default_factory=list)
    url: str = ""
    serving: "list[asyncio.Task[None] | None]" = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.serving.append(asyncio.current_task())
        self.came.append(await reader.read(65536))
        if self.came[-1] and self.answer is not None:
            writer.write(self.answer)
        writer.close()
        await writer.wait_closed()


@asynccontextmanager
async def far_end(answer: bytes | None) -> AsyncIterator[FarEnd]:
    there = FarEnd(answer)
    async with await asyncio.start_server(there.serve, "127.0.0.1", 0) as server:
        there.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/in"
        yield there
        await asyncio.gather(*filter(None, there.serving))


@asynccontextmanager
async def opened() -> AsyncIterator[aiohttp.ClientSession]:
    ours, login = {"X-Ours": "1"}, ("name", "pässword")
    async with open_web(connect_timeout_seconds=5, ca_file=None, headers=ours, login=login) as web:
        yield web


def window(seconds: float = 5) -> SendWindow:
    clock = ManualClock()
    return SendWindow(clock, clock.monotonic_seconds() + seconds)


async def test_not_a_byte_leaves_once_the_window_is_over() -> None:
    async with far_end(answering(b"")) as there, opened() as web:
        with pytest.raises(TooLate):
            await post(web, there.url, window(0), b"late")
        assert (await post(web, there.url, window(), b"in time")).status == 200
    assert [came[-7:] for came in there.came if came] == [b"in time"]


async def test_a_request_that_dies_is_in_doubt_and_not_repeated() -> None:
    sent = window()
    async with far_end(None) as there, opened() as web:
        with pytest.raises(aiohttp.ClientError) as lost:
            await post(web, there.url, sent, b"once")
    assert isinstance(failed(lost.value, sent), Unknown)
    assert len(there.came) == 1


async def test_a_connection_that_was_refused_proves_that_nothing_left() -> None:
    async with far_end(None) as there:
        pass
    sent = window()
    async with opened() as web:
        with pytest.raises(aiohttp.ClientError) as refused:
            await post(web, there.url, sent, b"x")
    assert failed(refused.value, sent) == Refused(
        f"{type(refused.value).__name__}: {refused.value}", destination_down=True
    )


async def test_of_an_address_only_the_host_is_told() -> None:
    sent, secret = window(), "/very-secret-1234?token=5678"
    async with far_end(b"no HTTP at all\r\n\r\n") as there, opened() as web:
        with pytest.raises(aiohttp.ClientError) as lost:
            await post(web, there.url + secret, sent, b"x")
    assert secret in str(lost.value)
    host = there.url.removesuffix("/in")
    told = failed(lost.value, sent)
    assert isinstance(told, Unknown)
    assert f"url='{host}'" in told.reason


async def test_redirects_are_answers_and_cookies_are_forgotten() -> None:
    moved = answering(b"", b"Location: /other", b"Set-Cookie: a=b", status=b"307 Moved")
    async with far_end(moved) as there, opened() as web:
        for _ in range(2):
            assert (await post(web, there.url, window(), {"a": "b c"})).status == 307
        assert (await ask(web, there.url, {"q": "x"})).status == 307
    assert len(there.came) == 3
    assert b"POST /in HTTP/1.1" in there.came[1]
    assert there.came[1].endswith(b"\r\n\r\na=b+c")
    assert b"GET /in?q=x HTTP/1.1" in there.came[2]
    for came in there.came:
        assert b"User-Agent: Aldebaran" in came
        assert b"X-Ours: 1" in came
        assert b"Authorization: Basic bmFtZTpww6Rzc3dvcmQ=" in came
        assert b"Cookie" not in came


@pytest.mark.parametrize(
    ("answer", "read"),
    [
        (answering(b'{"a": 1}'), {"a": 1}),
        (answering(b"[1]"), {}),
        (answering(b"no JSON"), {}),
        (answering(b'{"a": "%s"}' % (b"x" * LIMIT)), {}),
        (answering(b'{"a": 1}')[:-1], {}),
        (answering(b'{"a": 1}', b"Content-Encoding: gzip"), {"a": 1}),
    ],
)
async def test_an_answer_is_read_whole_or_not_at_all(answer: bytes, read: object) -> None:
    async with far_end(answer) as there, opened() as web:
        assert await answer_object(await post(web, there.url, window(), b"x"), LIMIT) == read
        if read == {"a": 1}:
            assert await answer_bytes(await post(web, there.url, window(), b"x")) == b'{"a": 1}'


@pytest.mark.parametrize(
    "url",
    [
        "",
        "desk",
        "//desk/in",
        "ftp://desk/in",
        "http://",
        "http://[::1",
        "http://a b/",
        "http://a..b/",
        f"http://{'a' * 70}.example/",
        "http://desk:99999/",
        "http://desk:port/",
        "http://\x00/",
    ],
)
async def test_what_is_no_address_is_refused_before_anything_is_tried(url: str) -> None:
    async with opened() as web:
        with pytest.raises(NoAddress):
            await post(web, url, window(), b"x")


@given(st.one_of(st.text(max_size=40), st.text(max_size=40).map("http://{}".format)))
def test_any_text_is_an_address_or_is_refused(text: str) -> None:
    with suppress(NoAddress):
        assert address(text).host
