"""Addresses of web servers in settings."""

import re
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

_PLAIN: Final = re.compile(r"https?://[^\s/?#@]+(/[^\s?#]*)?")


def _plain_address(address: str) -> str:
    if not _PLAIN.fullmatch(address) or not _can_be_reached(address):
        raise ValueError(
            "must look like https://server.example.com/path, without a name, password or query"
        )
    return address


def _can_be_reached(address: str) -> bool:
    """Tell whether there may be such a host and port: no look-up takes an empty or long label."""
    try:
        found = urlsplit(address)
        host = (found.hostname or "").encode("idna").decode()
        host.encode("idna")  # the first may make dots of other signs
        return bool(host) and found.port != 0
    except ValueError:
        return False


ServerAddress = Annotated[str, AfterValidator(_plain_address)]
"""What a server's requests begin with; names and passwords have settings of their own."""


def _reached(address: str) -> str:
    return _plain_address(address).rstrip("/") if address else ""


PublicAddress = Annotated[str, Field(max_length=200), AfterValidator(_reached)]
"""Where a program is reached from outside, no slash at its end; empty if it is not reached."""
