"""What became of a result in doubt: Nagios' own pages tell."""

import asyncio
from dataclasses import replace
from typing import Final

import aiohttp

from services.backbone.clock import Clock
from services.deliverer.channel import Absent, Doubt, Finding, Taken, Unclear
from services.deliverer.channels.nagios.witness import CLOCKS_APART_SECONDS, judged
from services.deliverer.channels.nagios.wording import Place, mark
from services.deliverer.channels.nrdp.settings import NrdpSettings
from services.deliverer.channels.nrdp.status_pages import NoAnswer, StatusPages
from services.deliverer.posting import open_web

_LEASES_LAST_SECONDS: Final = (120.0, 600.0, 3600.0)
_OURS: Final = "[delivery "
_CLOCKS_APART_MS: Final = CLOCKS_APART_SECONDS * 1000


class NrdpWitness:
    """Asks the Nagios behind NRDP after a doubt."""

    def __init__(self, settings: NrdpSettings, url: str, clock: Clock) -> None:
        self._timeout_seconds = settings.nrdp_status_timeout_seconds
        self._absence_seconds = settings.nrdp_absence_seconds
        self._clock = clock
        self._pages = StatusPages(_web(settings), url)

    async def look_up(self, doubt: Doubt) -> Finding:
        """Ask for the last result, then for the alerts since; what cannot be had tells nothing."""
        try:
            async with asyncio.timeout(self._timeout_seconds):
                return await self._found(doubt)
        except NoAnswer as error:
            return Unclear(f"Nagios could not be asked: {error}")
        except TimeoutError:
            return Unclear("Nagios did not answer in time")

    async def close(self) -> None:
        """Close connections."""
        await self._pages.close()

    async def _found(self, doubt: Doubt) -> Finding:
        place = Place.of(doubt.delivery.recipient)
        absence_ms = int((self._absence_seconds or 0.0) * 1000)
        settled = replace(doubt, lease_over_at_ms=doubt.lease_over_at_ms + absence_ms)
        status = await self._pages.status(place)
        finding = judged(status, settled)
        if isinstance(finding, Taken):
            return finding
        since_ms, until_ms = doubt.claimed_at_ms - _CLOCKS_APART_MS, self._clock.now_ms()
        alerts = await self._pages.alerts(place, since_ms, until_ms + _CLOCKS_APART_MS)
        if any(mark(doubt.delivery.delivery_id) in each for each in alerts):
            return Taken(detail="stands among the service's alerts in Nagios' log")
        if not isinstance(finding, Absent):
            return finding
        if self._absence_seconds is None:
            return Unclear("Nagios does not have it, which proves nothing")
        if _OURS not in status.shown[place].text:
            return Unclear("the last result is not of ours: is nrdp_status_url the same Nagios'?")
        return finding


def _web(settings: NrdpSettings) -> aiohttp.ClientSession:
    user = settings.nrdp_status_username
    return open_web(
        connect_timeout_seconds=settings.nrdp_connect_timeout_seconds,
        ca_file=settings.nrdp_ca_file,
        login=None if user is None else (user, settings.nrdp_status_password.get_secret_value()),
    )


def look_up_times(settings: NrdpSettings) -> tuple[float, ...]:
    """Return when Nagios is asked, from the beginning of a doubt; also when absence is proof."""
    late = settings.nrdp_absence_seconds
    at_last = () if late is None else tuple(late + more for more in _LEASES_LAST_SECONDS)
    return tuple(sorted({*settings.nrdp_look_up_after_seconds, *at_last}))
