"""What the client library says of itself, in our log, and not a line for each try to connect."""

import re
from typing import Final

from services.backbone.clock import Clock, SystemClock
from services.backbone.log import logger
from services.backbone.seldom import Seldom

log = logger(__name__)

EVERY_SECONDS: Final = 10.0
"""Between two lines of one kind; those between are counted."""
_THREAD: Final = re.compile(r"^\[thrd:[^\]]*\]: (?:\S+: )?")


class Sayings:
    """Stands where a client asks for a logger; called by whoever polls the client."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._seldom = Seldom(EVERY_SECONDS)

    def log(self, level: int, pattern: str, kind: str, client: str, text: str) -> None:
        """Take in one line: level as in `logging`, kind for example FAIL, the client's own name."""
        left_out = self._seldom.left_out(kind, self._clock.monotonic_seconds())
        if left_out is None:
            return
        said = _THREAD.sub("", text)
        log.log(level, "kafka_client", client=client, kind=kind, said=said, left_out=left_out)
