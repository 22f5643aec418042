"""Marks what is published a little later, many at once, on a thread of its own.

By then most deliveries are claimed, and a claim is a mark: nothing is written for them. A mark
made at once would lock the row just when its deliverer wants to claim it. What a crash leaves
unmarked is published once more (docs/decisions/0002-outbox.md).
"""

import threading
from collections.abc import Sequence
from typing import Final

from services.backbone.errors import Transient
from services.backbone.log import logger
from services.backbone.service import Life
from services.lookout.outbox.publishing import Marks

AFTER_SECONDS: Final = 0.5
WAITING_LIMIT: Final = 50_000
"""More than these are not kept for later: the relay publishes them again, and they are marked."""
TOGETHER_LIMIT: Final = 2000

log = logger(__name__)


class LaterMarks:
    """Takes deliveries out of the outbox soon; `mark_published` never waits and never raises."""

    def __init__(self, marks: Marks, life: Life) -> None:
        self._marks = marks
        self._life = life
        self._waiting: list[str] = []
        self._lock = threading.Lock()
        self._bug: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="marks", daemon=True)

    def start(self) -> None:
        """Begin to mark; ends with the life."""
        self._thread.start()

    def mark_published(self, delivery_ids: Sequence[str]) -> None:
        """Have deliveries marked soon."""
        with self._lock:
            room = WAITING_LIMIT - len(self._waiting)
            self._waiting += delivery_ids[:room]

    def close(self, timeout_seconds: float) -> None:
        """Make the marks that are left; raise what has ended the thread, if it was a bug."""
        self._thread.join(timeout_seconds)
        if self._bug is not None:
            raise self._bug
        self.turn()

    def turn(self) -> None:
        """Mark all that waits; what cannot be marked now is tried again with the next turn."""
        with self._lock:
            ids, self._waiting = self._waiting, []
        while ids:
            part, rest = ids[:TOGETHER_LIMIT], ids[TOGETHER_LIMIT:]
            try:
                self._marks.mark_published(part)
            except Transient as error:
                log.warning("marks_wait", count=len(ids), reason=str(error))
                self.mark_published(ids)
                return
            ids = rest

    def _run(self) -> None:
        try:
            while not self._life.stop.is_set():
                self._life.clock.wait(self._life.stop, AFTER_SECONDS)
                self.turn()
        except Exception as error:  # handed to the main thread, which ends the program with it
            self._bug = error
            self._life.stop.set()
