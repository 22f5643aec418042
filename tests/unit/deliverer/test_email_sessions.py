"""One SMTP session for mails that follow each other, by a relay on a real socket."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import pytest

from services.backbone.clock import SystemClock
from services.deliverer.channel import Message, SendWindow
from services.deliverer.channels.email.channel import EmailChannel
from services.deliverer.channels.email.sessions import KEPT_LIMIT
from services.deliverer.channels.email.settings import EmailSettings
from services.deliverer.outcomes import Accepted, Outcome, Permanent, Refused, Unknown
from services.machine.ports import free_ports
from tests.silent_address import NAME, Asyncio, silent
from tests.unit.deliverer.builders import delivery

OK: Final = b"250 ok\r\n"
ANSWERS: Final = {b"DATA": b"354 go ahead\r\n", b"QUIT": b"221 bye\r\n"}
SECONDS: Final = 10.0

pytestmark = pytest.mark.promise("not_taken", "email")


@dataclass(eq=False)
class Session:
    """What one session was told, command by command, and its mails."""

    writer: asyncio.StreamWriter
    commands: list[bytes] = field(default_factory=list)
    mails: int = 0
    over: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass
class Relay:
    """Takes mails; answers `says[command]` once where that stands, and ends where it is empty."""

    port: int = 0
    sessions: list[Session] = field(default_factory=list)
    says: dict[bytes, bytes] = field(default_factory=dict)
    may_answer: asyncio.Event = field(default_factory=asyncio.Event)

    def mails(self) -> list[int]:
        return [each.mails for each in self.sessions]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        session = Session(writer)
        self.sessions.append(session)
        writer.write(b"220 relay\r\n")
        while line := await reader.readline():
            command = line[:4].upper().strip()
            session.commands.append(command)
            if not (answer := self.says.pop(command, ANSWERS.get(command, OK))):
                break
            writer.write(answer)
            if command == b"DATA":
                await reader.readuntil(b"\r\n.\r\n")
                await self.may_answer.wait()
                session.mails += 1
                writer.write(self.says.pop(b".", OK))
        writer.close()
        session.over.set()


@asynccontextmanager
async def relay() -> AsyncIterator[Relay]:
    there = Relay()
    there.may_answer.set()
    server = await asyncio.start_server(there.serve, "127.0.0.1", 0)
    there.port = server.sockets[0].getsockname()[1]
    async with server:
        yield there
        for each in there.sessions:
            each.writer.close()


def channel_to(there: Relay, keep_seconds: float = 60.0, host: str = "127.0.0.1") -> EmailChannel:
    settings = EmailSettings(
        email_host=host,
        email_port=there.port,
        email_keep_session_seconds=keep_seconds,
    )
    return EmailChannel(settings, SystemClock())


async def send(channel: EmailChannel, number: int) -> Outcome:
    clock = SystemClock()
    window = SendWindow(clock, clock.monotonic_seconds() + SECONDS)
    one = delivery(number, channel="email", recipient="desk@example.com")
    return await channel.send(Message(one, 1), window)


async def test_mails_that_follow_each_other_share_a_session_which_is_left_at_the_end() -> None:
    async with relay() as there:
        channel = channel_to(there)
        for number in range(3):
            assert isinstance(await send(channel, number), Accepted)
        assert there.mails() == [3]
        assert there.sessions[0].commands.count(b"EHLO") == 1
        await channel.close()
        await asyncio.wait_for(there.sessions[0].over.wait(), SECONDS)
        assert there.sessions[0].commands[-1] == b"QUIT"


async def test_a_session_is_left_when_no_mail_comes_for_it() -> None:
    async with relay() as there:
        channel = channel_to(there, keep_seconds=0.01)
        assert isinstance(await send(channel, 1), Accepted)
        await asyncio.wait_for(there.sessions[0].over.wait(), SECONDS)
        assert isinstance(await send(channel, 2), Accepted)
        assert there.mails() == [1, 1]
        await channel.close()


async def test_without_keeping_each_mail_has_a_session() -> None:
    async with relay() as there:
        channel = channel_to(there, keep_seconds=0)
        assert isinstance(await send(channel, 1), Accepted)
        assert isinstance(await send(channel, 2), Accepted)
        assert there.mails() == [1, 1]


@pytest.mark.parametrize(
    ("at", "says"),
    [(b"MAIL", b""), (b"RCPT", b""), (b"DATA", b""), (b"MAIL", b"421 closing\r\n")],
)
async def test_a_kept_session_that_ends_before_the_content_is_replaced_at_once(
    at: bytes, says: bytes
) -> None:
    async with relay() as there:
        channel = channel_to(there)
        assert isinstance(await send(channel, 1), Accepted)
        there.says[at] = says
        assert isinstance(await send(channel, 2), Accepted)
        assert there.mails() == [1, 1]
        await channel.close()


async def test_a_session_that_dies_behind_the_content_leaves_a_doubt_and_no_second_mail() -> None:
    async with relay() as there:
        channel = channel_to(there)
        assert isinstance(await send(channel, 1), Accepted)
        there.may_answer.clear()
        second = asyncio.create_task(send(channel, 2))
        while b"DATA" not in there.sessions[0].commands[5:]:
            await asyncio.sleep(0.001)
        there.sessions[0].writer.transport.abort()
        assert isinstance(await second, Unknown)
        assert len(there.sessions) == 1
        there.may_answer.set()
        await channel.close()


@pytest.mark.parametrize(
    ("at", "says", "comes"),
    [(b"RCPT", b"550 nobody\r\n", Permanent), (b".", b"452 full\r\n", Refused)],
)
async def test_a_session_that_refused_a_mail_is_not_kept(
    at: bytes, says: bytes, comes: type[Outcome]
) -> None:
    async with relay() as there:
        channel = channel_to(there)
        there.says[at] = says
        assert isinstance(await send(channel, 1), comes)
        assert isinstance(await send(channel, 2), Accepted)
        assert len(there.sessions) == 2
        await channel.close()


@pytest.mark.parametrize("says", [b"550 who?\r\n", b"450 not now\r\n", b""])
async def test_a_relay_that_does_not_take_our_name_refuses_no_mail(says: bytes) -> None:
    async with relay() as there:
        channel = channel_to(there)
        there.says |= {b"EHLO": says, b"HELO": says}
        outcome = await send(channel, 1)
        assert isinstance(outcome, Refused)
        assert outcome.destination_down
        await asyncio.wait_for(there.sessions[0].over.wait(), SECONDS)
        there.says.clear()
        assert isinstance(await send(channel, 1), Accepted)
        await channel.close()


async def test_a_relay_that_knows_only_the_old_greeting_takes_mails() -> None:
    async with relay() as there:
        channel = channel_to(there)
        there.says[b"EHLO"] = b"500 what?\r\n"
        assert isinstance(await send(channel, 1), Accepted)
        assert there.sessions[0].commands[:3] == [b"EHLO", b"HELO", b"MAIL"]
        await channel.close()


@pytest.mark.parametrize(
    "says", [b"530 5.7.0 Must issue STARTTLS first\r\n", b"530 5.7.0 Authentication required\r\n"]
)
async def test_what_is_asked_of_every_session_is_our_settings_fault(says: bytes) -> None:
    async with relay() as there:
        channel = channel_to(there)
        there.says[b"MAIL"] = says
        outcome = await send(channel, 1)
        assert isinstance(outcome, Refused)
        assert outcome.destination_down
        assert "email_tls" in outcome.reason
        there.says[b"RCPT"] = says
        assert isinstance(await send(channel, 1), Permanent)
        await channel.close()


async def test_so_many_sessions_are_kept_and_no_more() -> None:
    async with relay() as there:
        channel = channel_to(there)
        there.may_answer.clear()
        sends = [asyncio.create_task(send(channel, number)) for number in range(KEPT_LIMIT + 3)]
        while sum(each.commands.count(b"DATA") for each in there.sessions) < len(sends):
            await asyncio.sleep(0.001)
        there.may_answer.set()
        assert all(isinstance(each, Accepted) for each in await asyncio.gather(*sends))
        while sum(each.over.is_set() for each in there.sessions) < 3:
            await asyncio.sleep(0.001)
        assert sum(each.over.is_set() for each in there.sessions) == 3
        await channel.close()


def test_the_second_address_of_a_relay_is_asked_where_the_first_is_silent() -> None:
    async def sent() -> Outcome:
        async with relay() as there:
            channel = channel_to(there, host=NAME)
            with silent(there.port):
                outcome = await send(channel, 1)
            await channel.close()
            return outcome

    with asyncio.Runner(loop_factory=Asyncio) as runner:
        assert isinstance(runner.run(sent()), Accepted)


async def test_a_relay_that_is_not_there_has_taken_nothing() -> None:
    outcome = await send(channel_to(Relay(port=free_ports(1)[0])), 1)
    assert isinstance(outcome, Refused)
    assert outcome.destination_down
    assert outcome.reason.startswith("no session with the relay: ConnectionRefusedError")
