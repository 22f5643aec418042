"""What the client library says of itself, in our log, and not a line for each try to connect."""

import re
from dataclasses import dataclass
from typing import Final

from services.backbone.clock import Clock, SystemClock
from services.backbone.log import logger

log = logger(__name__)

EVERY_SECONDS: Final = 10.0
"""Between two lines of one kind; those between are counted."""
_THREAD: Final = re.compile(r"^\[thrd:[^\]]*\]: (?:\S+: )?")


@dataclass
class _Said:
    """When a kind was told last, and how often it was said since."""

    at_seconds: float
    left_out: int = 0


class Sayings:
    """Stands where a client asks for a logger; called by whoever polls the client."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._said: dict[str, _Said] = {}

    def log(self, level: int, pattern: str, kind: str, client: str, text: str) -> None:
        """Take in one line: level as in `logging`, kind for example FAIL, the client's own name."""
        now = self._clock.monotonic_seconds()
        before = self._said.get(kind)
        if before is not None and now - before.at_seconds < EVERY_SECONDS:
            before.left_out += 1
            return
        self._said[kind] = _Said(now)
        left_out = before.left_out if before else 0
        said = _THREAD.sub("", text)
        log.log(level, "kafka_client", client=client, kind=kind, said=said, left_out=left_out)
