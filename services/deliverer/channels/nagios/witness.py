"""What became of a result: looked for in the spool, in Nagios' log and in its status file."""

import asyncio
from pathlib import Path
from typing import Final, Literal

from services.backbone.clock import Clock
from services.backbone.settings import Settings
from services.deliverer.channel import Absent, Doubt, Finding, Taken, Unclear
from services.deliverer.channels.nagios.spool import Spool, Standing
from services.deliverer.channels.nagios.status_file import Status, StatusFile
from services.deliverer.channels.nagios.wording import Place, mark

READ_WITHIN_SECONDS: Final = 30
"""A running Nagios reads its spool more often (check_result_reaper_frequency, by default 10)."""
CLOCKS_APART_SECONDS: Final = 30
"""How far the clocks of the ledger, of Nagios and ours may be apart."""


class WitnessSettings(Settings):
    """Where a result goes, and where it is found again."""

    nagios_way: Literal["spool", "command"] = "spool"
    """By files in Nagios' spool, or by its command file."""
    nagios_spool: Path = Path("/var/lib/nagios4/spool/checkresults")
    """check_result_path of nagios.cfg."""
    nagios_command_file: Path = Path("/var/lib/nagios4/rw/nagios.cmd")
    """command_file of nagios.cfg."""
    nagios_status_file: Path | None = None
    """status_file of nagios.cfg: evidence, and which hosts and services there are."""
    nagios_log_file: Path | None = None
    """log_file of nagios.cfg: evidence."""


class NagiosWitness:
    """Looks a result up, each place in the order in which a result passes it."""

    def __init__(self, settings: WitnessSettings, spool: Spool | None, clock: Clock) -> None:
        status, log = settings.nagios_status_file, settings.nagios_log_file
        self._looked_in_spool = spool
        self._log_file = log
        self._status_file = None if status is None else StatusFile(status)
        self._clock = clock
        self.can_look = bool(spool or status or log)

    async def look_up(self, doubt: Doubt) -> Finding:
        """Look once; what cannot be read tells nothing."""
        try:
            return await asyncio.to_thread(self._found, doubt)
        except OSError as error:
            return Unclear(f"cannot be read: {error}")

    def misses(self, place: Place) -> bool:
        """Tell whether Nagios surely does not know a host or service."""
        try:
            status = self._status_file.read() if self._status_file else Status(0, 0)
        except OSError:
            return False
        return bool(status.shown) and place not in status.shown

    def _found(self, doubt: Doubt) -> Finding:
        delivery_id = doubt.delivery.delivery_id
        if self._looked_in_spool is not None:
            match self._looked_in_spool.standing(delivery_id):
                case Standing.WAITING:
                    return Taken(detail="waits in the spool")
                case Standing.PREPARED if self._clock.now_ms() > doubt.lease_over_at_ms:
                    return Absent("lies in the spool and was never let go")
                case Standing.PREPARED:
                    return Unclear("lies in the spool; its try is not over yet")
        if self._log_file is not None and _has(self._log_file, mark(delivery_id)):
            return Taken(detail=f"stands in {self._log_file}")
        if self._status_file is None:
            return Unclear("nothing is found; without nagios_status_file that proves nothing")
        return judged(self._status_file.read(), doubt)


def judged(status: Status, doubt: Doubt) -> Finding:
    """Judge by one writing of the status file, after spool and log have shown nothing.

    Nothing was taken if a Nagios that had its time to read everything shows, well after the try's
    lease, a last result from well before the try.
    """
    shown = status.shown.get(Place.of(doubt.delivery.recipient))
    if shown is None:
        return Unclear("Nagios shows no such host or service")
    if mark(doubt.delivery.delivery_id) in shown.text:
        return Taken(detail="stands in the status file")
    settled = max(doubt.lease_over_at_ms // 1000 + CLOCKS_APART_SECONDS, status.started_seconds)
    if status.created_seconds <= settled + READ_WITHIN_SECONDS:
        return Unclear("Nagios may not have read everything yet")
    if shown.last_check_seconds >= doubt.claimed_at_ms // 1000 - CLOCKS_APART_SECONDS:
        return Unclear("Nagios has had a result since, and shows only the last")
    return Absent("Nagios has read everything, and its last result is older than the try")


def _has(file: Path, sought: str) -> bool:
    with file.open("rb") as lines:
        return any(sought.encode() in line for line in lines)
