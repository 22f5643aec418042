"""Asking for a password, to let somebody in or to change it: slowly where it fails."""

import threading
from dataclasses import dataclass, field, replace
from typing import Final

from services.backbone.web.problems import Problem
from services.console.people.audit import Audit, Deed
from services.console.people.brake import Brake, by_name
from services.console.people.passwords import fits, hashed, outdated
from services.console.people.roles import NOBODY, Person, Role
from services.console.people.sessions import Sessions
from services.console.people.throttle import Caller
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
        deed = Deed("log in", name[:64], f"from {address}")
        stored = self._known(NOBODY, deed, password, address)
        if outdated(stored):
            self.users.renew_hash(name, hashed(password))
        user = self.users.find(name)
        role = Role(user.role) if user else Role.VIEWER
        self.audit.note(Person(name, role, "page"), deed)
        return self.sessions.open(name)

    def change(self, person: Person, old: str, new: str, address: str) -> str:
        """Give somebody another password; return the token of a new session, the others end.

        Raises:
            Problem: as in `let_in`.
            Refused: the new password is too short or too long.
        """
        deed = Deed("change password", person.name, f"from {address}")
        self._known(person, deed, old, address)
        self.users.set_password(person, new, deed)
        return self.sessions.open(person.name)

    def _known(self, person: Person, deed: Deed, password: str, address: str) -> str:
        """Return the hash that the password of the deed's subject fits; note where none does."""
        callers = by_name(deed.subject, address)
        self.brake.check(callers)
        user = self.users.find(deed.subject)
        stored = user.password_hash if user and user.closed_at is None else None
        if not (self._fits(callers, password, stored) and stored):
            self.audit.note(person, replace(deed, outcome="refused"))
            raise Problem(401, "not_you", "name and password do not fit")
        return stored

    def _fits(self, callers: tuple[Caller, ...], password: str, stored: str | None) -> bool:
        if not self.gate.acquire(timeout=WAIT_SECONDS):
            raise Problem(503, "busy", "too many log in at once; try again", {"Retry-After": "2"})
        try:
            # Again, and noted in here: of many tries at once each knows of those before it.
            self.brake.check(callers)
            is_right = fits(password, stored)
            (self.brake.succeeded if is_right else self.brake.failed)(callers)
            return is_right
        finally:
            self.gate.release()
