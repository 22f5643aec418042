"""Letting somebody in by name and password, slowly where it fails."""

import threading
from dataclasses import dataclass, field
from typing import Final

from services.backbone.web.problems import Problem
from services.console.people.audit import Audit, Deed
from services.console.people.brake import Brake
from services.console.people.passwords import fits, hashed, outdated
from services.console.people.roles import Person, Role
from services.console.people.sessions import Sessions
from services.console.people.users import Users

AT_ONCE: Final = 2
"""Passwords checked at once: each takes 64 MiB and a core for some tens of milliseconds."""
WAIT_SECONDS: Final = 5.0


@dataclass
class Login:
    """Checks passwords; every try is in the audit log."""

    users: Users
    sessions: Sessions
    audit: Audit
    brake: Brake
    gate: threading.BoundedSemaphore = field(
        default_factory=lambda: threading.BoundedSemaphore(AT_ONCE)
    )

    def let_in(self, name: str, password: str, address: str) -> str:
        """Return the token of a new session.

        Raises:
            Problem: 429 too many failures; 401 name and password do not fit; 503 too many at once.
        """
        callers = (f"name {name[:64]}", f"address {address}")
        self.brake.check(callers)
        user = self.users.find(name[:64])
        stored = user.password_hash if user and user.closed_at is None else None
        if not self._fits(password, stored):
            self._refuse(callers, name, address)
        self.brake.succeeded(callers)
        if stored and outdated(stored):
            self.users.renew_hash(name, hashed(password))
        role = Role(user.role) if user else Role.VIEWER
        self.audit.note(Person(name, role, "page"), Deed("log in", name, f"from {address}"))
        return self.sessions.open(name)

    def _fits(self, password: str, stored: str | None) -> bool:
        if not self.gate.acquire(timeout=WAIT_SECONDS):
            raise Problem(503, "busy", "too many log in at once; try again", {"Retry-After": "2"})
        try:
            return fits(password, stored)
        finally:
            self.gate.release()

    def _refuse(self, callers: tuple[str, ...], name: str, address: str) -> None:
        self.brake.failed(callers)
        nobody = Person("", Role.VIEWER, "page")
        self.audit.note(nobody, Deed("log in", name[:64], f"from {address}", "refused"))
        raise Problem(401, "not_you", "name and password do not fit")
