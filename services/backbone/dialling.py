"""A connection to a name: where its first address stays silent, the next one is asked beside it."""

import asyncio
import socket
from typing import Final

from aiohappyeyeballs import start_connection

NEXT_ADDRESS_SECONDS: Final = 0.25
"""RFC 8305's; a firewall that drops what goes out by IPv6 would else use up all of the time."""


async def dialled(host: str, port: int) -> socket.socket:
    """Return a connected socket to whichever address of a host answers first.

    Raises:
        OSError: nobody knows the host, or none of its addresses takes the connection.
    """
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return await start_connection(found, happy_eyeballs_delay=NEXT_ADDRESS_SECONDS)
