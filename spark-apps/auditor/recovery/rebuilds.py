"""Sets a watch's checkpoint aside, so that its next start begins with the oldest kept event."""

import math
from collections import deque
from collections.abc import Iterable
from typing import Final

from auditor.checkpoints.checkpoint import TRIED_BYTES
from auditor.checkpoints.ranges import Range, told
from auditor.checkpoints.spared import note_spared, read_spared
from auditor.queries.query import Recipe
from engine.folders import write_in
from services.backbone.clock import Clock
from services.backbone.errors import Refused, Transient

REBUILDS_MAX: Final = 3
"""How often one watch may be built again within `REBUILDS_WINDOW_SECONDS`."""
REBUILDS_WINDOW_SECONDS: Final = 3600.0


class Rebuilds:
    """Of one watch; where they are needed again and again, something else is wrong."""

    def __init__(self, recipe: Recipe, clock: Clock) -> None:
        self._recipe = recipe
        self._clock = clock
        self._at_seconds: deque[float] = deque(maxlen=REBUILDS_MAX)
        self._doubted_at_seconds = -math.inf

    def mend(self, reason: str) -> None:
        """Set a broken checkpoint aside; one in a store only if that answers, at the second time.

        The topic still has the records that are read past, so the new folder gets their note too.

        Raises:
            Transient: the store has to be tried again, or something cannot be written now.
            Refused: this happened too often.
        """
        checkpoint = self._recipe.checkpoint
        self._try_store()
        self._doubt_store(reason)
        spared = read_spared(checkpoint.folder)
        self._begin_anew(reason, f"look at the disk of {checkpoint.home}")
        if spared:
            note_spared(checkpoint.folder, spared)

    def pass_gap(self, gone: Iterable[Range], reason: str) -> None:
        """Begin with the oldest kept event: no checkpoint can be told to read on behind a gap.

        Which records were read past counts no more, so the new folder gets no note of them.

        Raises:
            Transient: the checkpoint cannot be set aside now.
            Refused: this happened too often.
        """
        streams = ", ".join(self._recipe.declared.watch.streams)
        self._begin_anew(
            f"it ends before records that are gone ({told(gone)}): {reason}",
            f"let {streams} keep more (retention.ms and retention.bytes of the topic)",
        )

    def _try_store(self) -> None:
        store = self._recipe.checkpoint.store
        try:
            if store:
                write_in(self._recipe.spark, f"{store}/tried.new", bytes(TRIED_BYTES))
        except OSError as error:
            raise Transient(f"the store of {store}: {error}") from None

    def _doubt_store(self, reason: str) -> None:
        """Spark says of a store that is away for a moment what it says of a broken checkpoint."""
        now = self._clock.monotonic_seconds()
        before, self._doubted_at_seconds = self._doubted_at_seconds, now
        if self._recipe.checkpoint.store and now - before > REBUILDS_WINDOW_SECONDS:
            raise Transient(f"the store may have been away, so it is tried once more: {reason}")

    def _begin_anew(self, reason: str, advice: str) -> None:
        """Set the checkpoint aside; `advice` says what helps where that is needed so often."""
        now = self._clock.monotonic_seconds()
        if is_too_often(self._at_seconds, now):
            raise Refused(
                f"watch {self._recipe.declared.name}: it had to begin anew {REBUILDS_MAX + 1} times"
                f" within {REBUILDS_WINDOW_SECONDS / 60:.0f} minutes, last: {reason}; {advice}, "
                "then start the auditor again"
            )
        self._at_seconds.append(now)
        try:
            self._recipe.checkpoint.set_aside(reason, self._clock.now_ms())
        except OSError as error:
            raise Transient(f"the checkpoint cannot be set aside: {error}") from None


def is_too_often(rebuilt_at_seconds: Iterable[float], now_seconds: float) -> bool:
    """Tell whether one more rebuild now would be one too many."""
    since = now_seconds - REBUILDS_WINDOW_SECONDS
    return sum(at > since for at in rebuilt_at_seconds) >= REBUILDS_MAX
