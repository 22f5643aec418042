"""What was said of a phone's old token is forgotten when Apple takes a new one."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest
from pydantic import SecretStr

from services.backbone.clock import SystemClock
from services.backbone.errors import Transient
from services.backbone.ledger.deliveries.dropped import DroppedAddress, DroppedAddresses
from services.deliverer.channel import Message, SendWindow
from services.deliverer.channels.push.channel import PushChannel
from services.deliverer.channels.push.devices import Device, DroppedTokens, dropped
from services.deliverer.channels.push.settings import PushDevice, PushSettings
from services.deliverer.outcomes import Accepted, Outcome, Permanent
from services.simulator.inbox.apns.account import Account, made_up
from services.simulator.inbox.apns.server import Http2Server, Reply
from tests.unit.deliverer.builders import delivery

OLD, NEW = (Device("phone", digit * 64, None) for digit in "ab")
SECONDS = 10.0


class MemoryBook(DroppedAddresses):
    """A book in memory, which may be away, or write when it may."""

    def __init__(self) -> None:
        self.words: dict[str, DroppedAddress] = {}
        self.away = False
        self.may_write = asyncio.Event()
        self.may_write.set()

    async def all(self) -> list[DroppedAddress]:
        return list(self.words.values())

    async def add(self, dropped: DroppedAddress) -> None:
        await self.may_write.wait()
        self.words[dropped.address_digest] = dropped

    async def remove(self, recipient: str) -> None:
        await self.may_write.wait()
        if self.away:
            raise Transient("away")
        self.words = {key: word for key, word in self.words.items() if word.recipient != recipient}


@contextmanager
def apple(account: Account, reply: Reply) -> Iterator[Http2Server]:
    server = Http2Server(account, lambda _, __: reply, "127.0.0.1", 0)
    server.start()
    yield server
    server.close()


def channel_to(there: Http2Server, account: Account, book: MemoryBook, folder: Path) -> PushChannel:
    certificate = folder / "apple.pem"
    certificate.write_text(account.certificate)
    settings = PushSettings(
        push_key=SecretStr(account.signing_key),
        push_key_id=account.key_id,
        push_team_id=account.team_id,
        push_topic=account.topic,
        push_url=f"https://127.0.0.1:{there.port}",
        push_ca_file=str(certificate),
        push_devices={"phone": PushDevice(token=SecretStr(NEW.token))},
    )
    return PushChannel(settings, book, SystemClock())


async def send(channel: PushChannel, number: int) -> Outcome:
    clock = SystemClock()
    window = SendWindow(clock, clock.monotonic_seconds() + SECONDS)
    async with asyncio.timeout(SECONDS):
        return await channel.send(Message(delivery(number, "push", "phone"), 1), window)


@pytest.mark.parametrize(
    ("reply", "comes"),
    [(Reply(), Accepted), (Reply(status=410, said={"reason": "Unregistered"}), Permanent)],
)
async def test_answers_that_come_at_once_do_not_wait_for_the_ledger(
    tmp_path: Path, reply: Reply, comes: type[Outcome]
) -> None:
    book, account = MemoryBook(), made_up(SystemClock().now_ms())
    book.words[OLD.digest] = dropped(OLD, {}, 1000)
    book.may_write.clear()
    with apple(account, reply) as there:
        channel = channel_to(there, account, book, tmp_path)
        found = await asyncio.gather(*(send(channel, number) for number in range(8)))
        assert {type(each) for each in found} == {comes}
        assert OLD.digest in book.words
        book.may_write.set()
        await channel.close()
    assert list(book.words) == ([] if comes is Accepted else [OLD.digest, NEW.digest])


async def test_a_new_token_that_works_forgets_the_old_one() -> None:
    book = MemoryBook()
    tokens = DroppedTokens(book)
    tokens.add(dropped(OLD, {}, 1000))
    assert "dropped this phone's token" in (await tokens.reason(OLD) or "")
    assert await tokens.reason(NEW) is None
    book.away = True
    tokens.alive(NEW)
    await tokens.close()
    assert book.words
    assert await tokens.reason(OLD) is not None
    book.away = False
    tokens.alive(NEW)
    await tokens.close()
    assert book.words == {}
    assert await tokens.reason(OLD) is None


async def test_a_write_that_ends_as_none_should_ends_the_program_and_no_send(
    tmp_path: Path,
) -> None:
    book, account = MemoryBook(), made_up(SystemClock().now_ms())
    book.words[OLD.digest] = dropped(OLD, {}, 1000)
    with apple(account, Reply()) as there:
        channel = channel_to(there, account, book, tmp_path)
        assert channel.unusable() is None
        with patch.object(book, "remove", side_effect=ZeroDivisionError):
            found = [type(await send(channel, number)) for number in range(2)]
            await channel.close()
    assert found == [Accepted, Accepted]
    assert "ZeroDivisionError" in (channel.unusable() or "")
