"""Passwords: argon2id with the library's defaults, which follow RFC 9106."""

import secrets
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from services.backbone.errors import Refused

LENGTH_LEAST: Final = 12
LENGTH_LIMIT: Final = 256
_WORD_BYTES: Final = 15

_HASHER: Final = PasswordHasher()
# Checked where there is no such user, so that the time tells nothing about who exists.
_NOBODYS: Final = _HASHER.hash(secrets.token_urlsafe(32))


def check_length(password: str) -> None:
    """Check what is to become somebody's password.

    Raises:
        ValueError: it is too short or too long.
    """
    if not LENGTH_LEAST <= len(password) <= LENGTH_LIMIT:
        raise ValueError(f"a password has {LENGTH_LEAST} to {LENGTH_LIMIT} characters")


def hashed(password: str) -> str:
    """Return what is stored of a password.

    Raises:
        Refused: it is too short or too long.
    """
    try:
        check_length(password)
    except ValueError as error:
        raise Refused(str(error)) from None
    return _HASHER.hash(password)


def fits(password: str, stored: str | None) -> bool:
    """Tell whether a password is the stored one; takes as long where nothing is stored."""
    if len(password) > LENGTH_LIMIT:
        return False
    try:
        _HASHER.verify(stored or _NOBODYS, password)
    except (VerificationError, InvalidHashError):
        return False
    return bool(stored)


def outdated(stored: str) -> bool:
    """Tell whether a hash was made with weaker numbers than today's."""
    return _HASHER.check_needs_rehash(stored)


def made() -> str:
    """Return a password that nobody can guess."""
    return secrets.token_urlsafe(_WORD_BYTES)
