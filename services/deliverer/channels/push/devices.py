"""Tokens that Apple has dropped: remembered in the ledger, so that a restart knows them too."""

import asyncio
import hashlib
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from services.backbone.errors import Transient
from services.backbone.ledger.deliveries.dropped import DroppedAddress, DroppedAddresses
from services.backbone.log import logger

CLOSE_SECONDS: Final = 1.0
"""How long the end waits for what is not written yet; Apple says it again after a restart."""

log = logger(__name__)


@dataclass(frozen=True, slots=True)
class Device:
    """Where a recipient's notifications go; `registered_at` is the token's age, if known."""

    recipient: str
    token: str
    registered_at: datetime | None

    @property
    def digest(self) -> str:
        """What stands for the token in the ledger."""
        return hashlib.sha256(self.token.encode()).hexdigest()

    def outlives(self, dropped: DroppedAddress) -> bool:
        """Tell whether the token was registered after Apple's word against it."""
        if self.registered_at is None:
            return False
        return round(self.registered_at.timestamp() * 1000) > dropped.dropped_at_ms


def dropped(device: Device, said: Mapping[str, Any], now_ms: int) -> DroppedAddress:
    """Return what Apple's 410 says of a token; without a timestamp it holds from now on."""
    stamp = said.get("timestamp")
    since_ms = stamp if isinstance(stamp, int) and 0 < stamp <= now_ms else now_ms
    day = datetime.fromtimestamp(since_ms / 1000, UTC).isoformat(timespec="seconds")
    reason = (
        f"Apple dropped this phone's token at {day}: the app was removed, or has a new token; "
        "set it in push_devices"
    )
    return DroppedAddress(device.digest, device.recipient, reason, since_ms)


class DroppedTokens:
    """Read once, then kept in memory; written behind, in the sequence of Apple's answers.

    A send does not wait for what it has told: its time limit would make a doubt of its answer.
    """

    def __init__(self, book: DroppedAddresses) -> None:
        self._book = book
        self._known: dict[str, DroppedAddress] = {}
        self._read = False
        self._turn = asyncio.Lock()
        self._writing: set[asyncio.Task[None]] = set()
        self._bug: BaseException | None = None

    async def reason(self, device: Device) -> str | None:
        """Return why nothing is sent to this device, or None."""
        await self._look()
        found = self._known.get(device.digest)
        return None if found is None or device.outlives(found) else found.reason

    def add(self, word: DroppedAddress) -> None:
        """Keep Apple's word; where the ledger is away, Apple says it again after a restart."""
        self._known[word.address_digest] = word
        self._behind(self._keep(word))

    def unusable(self) -> str | None:
        """Return with what no write should end with one has ended, or None."""
        if self._bug is None:
            return None
        return f"what Apple says of tokens cannot be written: {self._bug!r}"

    def alive(self, device: Device) -> None:
        """Forget what was said of a recipient's earlier tokens: Apple has taken this one."""
        old = [key for key, word in self._known.items() if word.recipient == device.recipient]
        if old:
            words = {key: self._known.pop(key) for key in old}
            self._behind(self._forget(device.recipient, words))

    async def close(self) -> None:
        """Wait a moment for what is not written yet."""
        if self._writing:
            _, late = await asyncio.wait(self._writing, timeout=CLOSE_SECONDS)
            for task in late:
                task.cancel()

    def _behind(self, writing: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(writing)
        self._writing.add(task)
        task.add_done_callback(self._written)

    def _written(self, task: asyncio.Task[None]) -> None:
        """Keep what no write should end with: the program ends when all under way is recorded."""
        self._writing.discard(task)
        if not task.cancelled():
            self._bug = self._bug or task.exception()

    async def _keep(self, word: DroppedAddress) -> None:
        try:
            async with self._turn:
                await self._book.add(word)
        except Transient as error:
            log.warning("dropped_token_not_kept", recipient=word.recipient, reason=str(error))

    async def _forget(self, recipient: str, words: Mapping[str, DroppedAddress]) -> None:
        """Forget them in the ledger; where it is away they stay known, for the next push's try."""
        try:
            async with self._turn:
                await self._book.remove(recipient)
        except Transient as error:
            log.warning("dropped_token_not_forgotten", recipient=recipient, reason=str(error))
            self._known = {**words, **self._known}

    async def _look(self) -> None:
        if self._read:
            return
        try:
            found = await self._book.all()
        except Transient as error:
            log.warning("dropped_tokens_unknown", reason=str(error))
            return
        self._known = {each.address_digest: each for each in found} | self._known
        self._read = True
