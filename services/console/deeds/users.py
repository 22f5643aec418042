"""Letting people in, and out again: each change is in the audit log with who made it."""

from dataclasses import dataclass

from services.console.people.audit import Audit, Deed
from services.console.people.guests import Guests
from services.console.people.passwords import made
from services.console.people.roles import Person, Role
from services.console.people.users import Users


@dataclass(frozen=True)
class Admission:
    """Every method raises Refused where a change cannot be made, Transient without Postgres."""

    users: Users
    guests: Guests
    audit: Audit

    def add(self, by: Person, name: str, role: Role) -> str:
        """Add a local user; return the password, which is kept nowhere."""
        password = made()
        self.users.add(name, password, role, by.name)
        self.audit.note(by, Deed("add user", name, role))
        return password

    def renew_password(self, by: Person, name: str) -> str:
        """Give a local user a new password and return it; their sessions end."""
        password = made()
        self.users.set_password(name, password)
        self.audit.note(by, Deed("reset password", name))
        return password

    def set_role(self, by: Person, name: str, role: Role) -> None:
        """Give a local user another role."""
        self.users.set_role(name, role)
        self.audit.note(by, Deed("change role", name, role))

    def forget(self, by: Person, name: str) -> None:
        """Forget whom a login provider has brought; the next of that name is new."""
        self.guests.forget(name)
        self.audit.note(by, Deed("forget user", name))

    def close(self, by: Person, name: str) -> None:
        """Let somebody in no more."""
        self.users.close(name)
        self.audit.note(by, Deed("close user", name))
