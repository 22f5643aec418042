"""A relay that takes mails; the first byte of a delivery is that of its connection's greeting."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email import message_from_bytes, policy

from aiosmtpd.smtp import SMTP, Envelope, Session

from services.simulator.inbox.mail import delivery_id_of
from tests.bench.delivering.receivers import Seen


class Relay:
    """Notes when each connection greeted, and of which delivery its mail was."""

    def __init__(self, seen: Seen, answer_after_seconds: float) -> None:
        self._seen = seen
        self._after = answer_after_seconds
        self._greeted_ns: dict[int, int] = {}

    async def handle_EHLO(
        self,
        server: SMTP,
        session: Session,
        envelope: Envelope,
        hostname: str,
        responses: list[str],
    ) -> list[str]:
        """Note the time."""
        self._greeted_ns[id(session)] = time.monotonic_ns()
        session.host_name = hostname
        return responses

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        """Note whose mail it is, and take it."""
        assert isinstance(envelope.content, bytes)
        name = delivery_id_of(message_from_bytes(envelope.content, policy=policy.default))
        self._seen.setdefault(name, []).append(self._greeted_ns.pop(id(session)))
        await asyncio.sleep(self._after)
        return "250 kept"


@asynccontextmanager
async def taking_mails(port: int, answer_after_seconds: float, seen: Seen) -> AsyncIterator[None]:
    """Take mails while this lasts."""
    relay = Relay(seen, answer_after_seconds)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: SMTP(relay, hostname="relay", loop=loop), "127.0.0.1", port, backlog=1024
    )
    async with server:
        yield
