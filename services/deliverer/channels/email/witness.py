"""What became of a mail in doubt: our own relay's log tells."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import aiosmtplib

from services.backbone.clock import Clock
from services.deliverer.channel import Absent, Doubt, Finding, Taken, Unclear, Undelivered
from services.deliverer.channels.email.mail import message_id
from services.deliverer.channels.email.relay_log import Logged, Passage, read, tail
from services.deliverer.channels.email.sessions import Sessions, leave
from services.deliverer.channels.email.settings import EmailSettings

_MIB: Final = 1024 * 1024
_CLOCKS_APART_MS: Final = 30_000
"""How far the clocks of the ledger, of the relay and ours may be apart."""
_GREY_MS: Final = 2 * 3_600_000
"""A time without a zone may be an hour off when the clocks are changed."""
_LEASES_LAST_SECONDS: Final = (60.0, 600.0, 3600.0)
_NUDGE_SECONDS: Final = 5.0


class EmailWitness:
    """Reads our own relay's log after a doubt."""

    def __init__(
        self, settings: EmailSettings, log: Path, clock: Clock, sessions: Sessions
    ) -> None:
        self._settings = settings
        self._log = log
        self._clock = clock
        self._sessions = sessions

    async def look_up(self, doubt: Doubt) -> Finding:
        """Read the log once; what cannot be read tells nothing."""
        await self._nudge()
        try:
            logged = await asyncio.to_thread(self._read, doubt)
        except OSError as error:
            return Unclear(f"the relay's log cannot be read: {error}")
        return judged(logged, doubt, self._clock.now_ms(), self._settings.email_absence_seconds)

    def _read(self, doubt: Doubt) -> Logged:
        settings = self._settings
        lines = tail(self._log, settings.email_relay_log_limit_mib * _MIB)
        sought = message_id(doubt.delivery.delivery_id, settings.domain)
        return read(lines, sought, settings.domain, self._clock.now_ms())

    async def _nudge(self) -> None:
        """Greet the relay, so that a quiet one logs a line: later look-ups see that it logs."""
        with suppress(aiosmtplib.SMTPException, OSError, TimeoutError):
            async with asyncio.timeout(_NUDGE_SECONDS):
                leave(await self._sessions.open())


def judged(logged: Logged, doubt: Doubt, now_ms: int, absence_seconds: float | None) -> Finding:
    """Judge what the log tells of a try."""
    since_ms = doubt.claimed_at_ms - _CLOCKS_APART_MS
    queued = [each for each in logged.passages if each.queued and _is_of(each, doubt, since_ms)]
    if queued:
        return _passed(queued)
    if any(_is_grey(each, since_ms) for each in logged.passages):
        return Unclear("the relay has begun to take it, at this try or shortly before")
    if absence_seconds is None:
        return Unclear("not in the relay's log, which proves nothing")
    settled_ms = doubt.lease_over_at_ms + int(absence_seconds * 1000)
    if now_ms < settled_ms:
        return Unclear("not in the relay's log yet")
    if gap := _gap(logged, since_ms, settled_ms):
        return Unclear(gap)
    return Absent(f"not in the relay's log {absence_seconds:g} s after the lease")


def _gap(logged: Logged, since_ms: int, settled_ms: int) -> str | None:
    """Say why the log's silence proves nothing, or None.

    It must cover the time from before the try until well after its lease, and have other mails of
    ours: so it is this relay's, and would tell.
    """
    if logged.first_ms is None or logged.first_ms > since_ms:
        return "the relay's log does not go back to the try: see email_relay_log_limit_mib"
    if logged.last_ms is None or logged.last_ms < settled_ms:
        return "nothing was logged since, so the log may stand still"
    if not logged.shows_others:
        return "the log has no mail of ours at all: is email_relay_log this relay's?"
    return None


def _passed(queued: Sequence[Passage]) -> Finding:
    """Tell where the mail is; a passage that only led to another one here does not count."""
    names = {each.queue_id for each in queued}
    ends = [each for each in queued if not each.next_ids & (names - {each.queue_id})]
    lost = [each for each in ends if each.results and all(r.lost for r in each.results.values())]
    if ends and lost == ends:
        return Undelivered(lost[-1].queue_id, _told(lost[-1]))
    alive = [each for each in ends if each not in lost] or queued
    return Taken(alive[-1].queue_id, _told(alive[-1]))


def _told(passage: Passage) -> str:
    told = [f"in the relay's log as {passage.queue_id}"]
    for to, result in passage.results.items():
        told.append(f"{result.status} to {to} ({result.dsn}: {result.said})")
    return "; ".join(told)[:300]


def _is_of(passage: Passage, doubt: Doubt, since_ms: int) -> bool:
    """Tell whether a passage can only be of this try; before the first try there was none."""
    return doubt.attempt == 1 or (passage.at_ms is not None and passage.at_ms >= since_ms)


def _is_grey(passage: Passage, since_ms: int) -> bool:
    return passage.at_ms is None or passage.at_ms >= since_ms - _GREY_MS


def look_up_times(settings: EmailSettings) -> tuple[float, ...]:
    """Return when the log is read, from the beginning of a doubt; also when absence is proof."""
    late = settings.email_absence_seconds
    at_last = () if late is None else tuple(late + more for more in _LEASES_LAST_SECONDS)
    return tuple(sorted({*settings.email_look_up_after_seconds, *at_last}))
