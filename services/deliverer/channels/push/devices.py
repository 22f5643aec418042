"""Tokens that Apple has dropped: remembered in the ledger, so that a restart knows them too."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from services.backbone.errors import Transient
from services.backbone.ledger.dropped import DroppedAddress, DroppedAddresses
from services.backbone.log import logger

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
    """Read once, then kept in memory."""

    def __init__(self, book: DroppedAddresses) -> None:
        self._book = book
        self._known: dict[str, DroppedAddress] = {}
        self._read = False

    async def reason(self, device: Device) -> str | None:
        """Return why nothing is sent to this device, or None."""
        await self._look()
        found = self._known.get(device.digest)
        return None if found is None or device.outlives(found) else found.reason

    async def add(self, word: DroppedAddress) -> None:
        """Keep Apple's word; where the ledger is away, Apple says it again after a restart."""
        self._known[word.address_digest] = word
        try:
            await self._book.add(word)
        except Transient as error:
            log.warning("dropped_token_not_kept", recipient=word.recipient, reason=str(error))

    async def alive(self, device: Device) -> None:
        """Forget what was said of a recipient's earlier tokens: Apple has taken this one."""
        old = [key for key, word in self._known.items() if word.recipient == device.recipient]
        if not old:
            return
        try:
            await self._book.remove(device.recipient)
        except Transient as error:
            log.warning(
                "dropped_token_not_forgotten", recipient=device.recipient, reason=str(error)
            )
            return
        for key in old:
            del self._known[key]

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
