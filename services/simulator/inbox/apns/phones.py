"""Phones: what is on their screens, and the one notification that waits while they are off."""

import threading
from dataclasses import asdict, dataclass, field
from typing import Any

from services.simulator.inbox.apns.rules import Push
from services.simulator.inbox.provider import KEPT_LIMIT


@dataclass
class Phone:
    """One app on one phone; `screen` has one item per collapse id, `waiting` at most one push."""

    screen: dict[str, str] = field(default_factory=dict)
    waiting: Push | None = None
    lost: list[str] = field(default_factory=list)
    """Collapse ids that were pushed out by a newer one while the phone was off."""

    def show(self, push: Push) -> None:
        """Put a notification on the screen, or in the place of its older self."""
        self.screen[push.collapse_id or push.apns_id] = str(push.payload["aps"].get("alert"))
        if len(self.screen) > KEPT_LIMIT:
            del self.screen[next(iter(self.screen))]

    def keep(self, push: Push) -> None:
        """Keep the newest for a phone that is off: Apple stores one per app."""
        if self.waiting is not None and self.waiting.collapse_id != push.collapse_id:
            self.lost.append(self.waiting.collapse_id)
            del self.lost[:-KEPT_LIMIT]
        self.waiting = push


class Phones:
    """All phones; safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._phones: dict[str, Phone] = {}

    def push(self, push: Push, offline: bool) -> None:
        """Show a notification, or keep it while phones are off."""
        with self._lock:
            phone = self._phones.setdefault(push.token, Phone())
            if offline:
                phone.keep(push)
            else:
                _wake(phone)
                phone.show(push)

    def seen(self, offline: bool) -> dict[str, Any]:
        """Return every phone as it is now; phones that are on have got what waited."""
        with self._lock:
            for phone in self._phones.values():
                if not offline:
                    _wake(phone)
            return {token: asdict(phone) for token, phone in self._phones.items()}


def _wake(phone: Phone) -> None:
    if phone.waiting is not None:
        phone.show(phone.waiting)
        phone.waiting = None
