"""Plays a Nagios that reads its spool: takes each result that was let go, and removes it."""

import re
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

from services.backbone.log import logger
from services.simulator.inbox.faults import Verdict
from services.simulator.inbox.received import Arrival
from services.simulator.inbox.switchboard import Switchboard

WAY: Final = "nagios"
READ_SECONDS: Final = 1.0
_LET_GO: Final = ".ok"
_ID: Final = re.compile(r"\[delivery ([0-9a-f]{32})\]")
_OUTPUT: Final = re.compile(r"^output=(.*)$", re.MULTILINE)

log = logger(__name__)


def read_until(stop: threading.Event, folder: Path, board: Switchboard) -> None:
    """Read the spool every second until the stop; what a full disk refuses stays there."""
    while not board.clock.wait(stop, READ_SECONDS):
        try:
            take_all(folder, board)
        except OSError as error:
            log.warning("spool_not_read", folder=str(folder), reason=str(error))


def take_all(folder: Path, board: Switchboard) -> int:
    """Take what was let go, the oldest first; return how many results that were."""
    signs = sorted(folder.glob(f"c*{_LET_GO}"), key=lambda each: each.stat().st_mtime)
    for sign in signs:
        result = sign.with_suffix("")
        with suppress(FileNotFoundError):
            _take(result.read_text("utf-8", errors="replace"), result.name, board)
            result.unlink()
        sign.unlink(missing_ok=True)
    return len(signs)


def _take(content: str, name: str, board: Switchboard) -> None:
    output = found[1] if (found := _OUTPUT.search(content)) else ""
    delivery = _ID.search(output)
    arrival = Arrival(
        way=WAY,
        delivery_id=delivery[1] if delivery else "",
        verdict=Verdict.ACCEPTED,
        at_ms=board.clock.now_ms(),
        place=name,
        body=content,
    )
    board.took(arrival, output)
