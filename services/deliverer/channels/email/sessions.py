"""Sessions with the relay: one for each mail under way, and one that did well is kept for a while.

A session that dies before a mail's content proves that the mail was not taken, so keeping one
leaves no doubt that a new one would not.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import aiosmtplib

KEPT_LIMIT: Final = 8
"""Each holds a process of a Postfix, which has a hundred by default."""


class Sessions:
    """Opens sessions, and keeps those that are given back."""

    def __init__(self, new: Callable[[], Awaitable[aiosmtplib.SMTP]], keep_seconds: float) -> None:
        self._new = new
        self._keep_seconds = keep_seconds
        self._kept: list[tuple[aiosmtplib.SMTP, asyncio.TimerHandle]] = []

    async def open(self) -> aiosmtplib.SMTP:
        """Return a new session in which the relay has heard our name: refused, it takes no mail.

        Raises:
            SMTPException, OSError: the relay cannot be reached, or does not want us.
        """
        session = await self._new()
        await session.connect()
        try:
            await _named(session)
        except BaseException:
            session.close()
            raise
        return session

    def kept(self) -> aiosmtplib.SMTP | None:
        """Return the session that was used last, if any is kept and alive as far as we heard."""
        while self._kept:
            session, timer = self._kept.pop()
            timer.cancel()
            if session.is_connected:
                return session
        return None

    def keep(self, session: aiosmtplib.SMTP) -> None:
        """Take a session back whose mail was taken: the relay awaits the next one."""
        if not self._keep_seconds or len(self._kept) >= KEPT_LIMIT:
            leave(session)
            return
        timer = asyncio.get_running_loop().call_later(self._keep_seconds, self._over, session)
        self._kept.append((session, timer))

    def close(self) -> None:
        """Leave all that are kept."""
        while (session := self.kept()) is not None:
            leave(session)

    def _over(self, session: aiosmtplib.SMTP) -> None:
        self._kept = [each for each in self._kept if each[0] is not session]
        leave(session)


async def _named(session: aiosmtplib.SMTP) -> None:
    """Say our name, in the old way to a relay that does not know the new one."""
    if not session.is_ehlo_or_helo_needed:
        return
    try:
        await session.ehlo()
    except aiosmtplib.SMTPHeloError:
        if not session.is_connected:
            raise
        await session.helo()


def leave(session: aiosmtplib.SMTP) -> None:
    """Say good-bye without waiting for the answer."""
    if session.protocol is not None and session.protocol.is_connected:
        session.protocol.write(b"QUIT\r\n")
    session.close()
