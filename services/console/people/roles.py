"""Roles: each may do what the one before it may."""

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """What a person may do."""

    VIEWER = "viewer"
    """Look at everything but the audit log and the users."""
    RESPONDER = "responder"
    """Acknowledge, resolve, send again, silence, send a test."""
    ADMIN = "admin"
    """Pause channels, make users, read the audit log."""

    def includes(self, other: "Role") -> bool:
        """Tell whether this role may do what the other may."""
        ranks = list(Role)
        return ranks.index(self) >= ranks.index(other)


@dataclass(frozen=True, slots=True)
class Person:
    """Who asks, by which door; `token` is the session's, empty where there is none."""

    name: str
    role: Role
    door: str
    token: str = ""


NOBODY = Person("", Role.VIEWER, "page")
"""Somebody who has not logged in, where reading is open to all who reach the port."""
