"""What was said of a phone's old token is forgotten when Apple takes a new one."""

from services.backbone.errors import Transient
from services.backbone.ledger.dropped import DroppedAddress, DroppedAddresses
from services.deliverer.channels.push.devices import Device, DroppedTokens, dropped

OLD, NEW = (Device("phone", digit * 64, None) for digit in "ab")


class MemoryBook(DroppedAddresses):
    """A book in memory, which may be away."""

    def __init__(self) -> None:
        self.words: dict[str, DroppedAddress] = {}
        self.away = False

    async def all(self) -> list[DroppedAddress]:
        return list(self.words.values())

    async def add(self, dropped: DroppedAddress) -> None:
        self.words[dropped.address_digest] = dropped

    async def remove(self, recipient: str) -> None:
        if self.away:
            raise Transient("away")
        self.words = {key: word for key, word in self.words.items() if word.recipient != recipient}


async def test_a_new_token_that_works_forgets_the_old_one() -> None:
    book = MemoryBook()
    tokens = DroppedTokens(book)
    await tokens.add(dropped(OLD, {}, 1000))
    assert "dropped this phone's token" in (await tokens.reason(OLD) or "")
    assert await tokens.reason(NEW) is None
    book.away = True
    await tokens.alive(NEW)
    assert book.words
    book.away = False
    await tokens.alive(NEW)
    assert book.words == {}
    assert await tokens.reason(OLD) is None
