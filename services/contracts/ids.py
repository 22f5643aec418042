"""Deterministic ids: the same finding, and the same message to a person, always has the same id.

Spark computes `alert_id` in SQL with the same rule; tests hold the two against each other.
"""

import hashlib
from collections.abc import Iterable
from typing import Final

ID_LENGTH: Final = 32
"""Characters of an id: 128 bits of SHA-256 in hex."""


def digest(*parts: str) -> str:
    """Return an id for a sequence of texts; each carries its UTF-8 length, so none can be split."""
    hasher = hashlib.sha256()
    for part in parts:
        encoded = part.encode()
        hasher.update(f"{len(encoded)}:".encode())
        hasher.update(encoded)
    return hasher.hexdigest()[:ID_LENGTH]


def alert_id(watch: str, key_values: Iterable[str]) -> str:
    """Return the id of a watch's finding about one key (values in the watch's declared order)."""
    return digest("alert", watch, *key_values)


def delivery_id(alert: str, channel: str, recipient: str, repetition: int = 0) -> str:
    """Return the id of one message to one recipient on one channel."""
    return digest("delivery", alert, channel, recipient, str(repetition))


def accounted_id(account: str, key_values: Iterable[str]) -> str:
    """Return the id of one row of an account (values in the account's declared order)."""
    return digest("account", account, *key_values)
