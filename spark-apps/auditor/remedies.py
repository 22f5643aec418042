"""What is done for a watch in trouble, on real brokers and a real checkpoint."""

import threading
from collections.abc import Iterable
from typing import Final

from pyspark.sql.streaming.query import StreamingQuery

from auditor import metrics
from auditor.executors import lost_since
from auditor.patience import patient
from auditor.poison import Range, Verdict, behind, good, search
from auditor.probation import Probation
from auditor.query import Recipe
from auditor.reach import lost_by, unread_by
from auditor.rebuilds import Rebuilds
from auditor.sieve import Sieve
from auditor.spared import SPARED_MAX, note_spared, read_spared
from auditor.trial import try_out
from auditor.trouble import Failure, is_gap, not_begun, outside
from services.backbone.clock import Clock
from services.backbone.errors import Refused, Transient
from services.backbone.log import logger
from services.contracts.watches import WatchDeclaration

SEARCH_SECONDS_MAX: Final = 240.0
"""After this a search begins no further step, and goes on from there after the next failure."""
_TOLD_RANGES: Final = 8

log = logger(__name__)


class RealRemedies:
    """The remedies of one watch; also starts its query, as a start may follow from a remedy.

    A remedy and a start are never at work at once; `break_off` may be called at any time.
    """

    def __init__(self, recipe: Recipe, clock: Clock) -> None:
        self._recipe = recipe
        self._clock = clock
        self._lossy = False
        self._started_at_ms = 0
        self._found_good: tuple[Range, ...] = ()
        self._broken_off = threading.Event()
        self._sieve = Sieve(recipe, self._broken_off)
        self._probation = Probation(recipe, self._sieve, clock)
        self._rebuilds = Rebuilds(recipe, clock)

    def start(self, batch_seconds: float) -> StreamingQuery:
        """Start the query; once behind what was lost, if that was accepted."""
        self._broken_off.clear()
        self._started_at_ms = self._clock.now_ms()
        self._recipe.checkpoint.claim(self._started_at_ms)
        recipe = patient(self._recipe, self._started_at_ms)
        lossy, self._lossy = self._lossy, False
        return recipe.start(batch_seconds, lossy)

    def break_off(self) -> None:
        """End a search or a trial that is under way; to be called again until it has ended."""
        self._broken_off.set()
        self._sieve.cancel()

    def spare(self, failure: Failure) -> None:
        """Find the record that the SQL fails on, keep it aside and read past it from now on.

        Where its changed table of rules is to blame, nothing is kept aside.
        """
        verdict, reason = self._search(), failure.reason
        self._probation.hear(verdict, reason)
        if not self._spared(verdict, reason):
            raise self._not_found(verdict, reason)

    def suspect(self, failure: Failure) -> None:
        """Find out by exclusion what a failure comes from: record, outside, query, disk, state.

        Only what nothing else explains is the checkpoint's.
        """
        reason, text = failure.reason, failure.text
        if (cause := not_begun(text)) is not None:
            raise Transient(f"{cause}: {reason}")
        verdict = self._search()
        # Where no record fails alone, much else may be the cause of what nobody knows.
        if verdict.guilty is not None:
            self._probation.hear(verdict, reason)
        if self._spared(verdict, reason):
            return
        if verdict.guilty is None and (cause := outside(text) or self._lost()) is not None:
            raise Transient(f"{cause}: {reason}")
        if verdict.guilty is not None or verdict.unseen:
            raise self._not_found(verdict, reason)
        recipe = self._recipe
        try_out(recipe.spark, recipe.declared, self._clock, self._broken_off)
        recipe.checkpoint.try_to_write()
        self._rebuilds.mend(f"the query runs without it: {reason}")

    def _lost(self) -> str | None:
        """Say which executor went since the last start: what is left over names another failure."""
        return lost_since(self._recipe.spark, self._started_at_ms)

    def _search(self) -> Verdict:
        """Search on behind what an earlier search found good: each start reads that again."""
        ranges = unread_by(self._recipe)
        end_seconds = self._clock.monotonic_seconds() + SEARCH_SECONDS_MAX
        verdict = search(
            behind(ranges, self._found_good),
            self._sieve.fails,
            lambda: self._clock.monotonic_seconds() < end_seconds,
        )
        if verdict.guilty is None:
            self._found_good = good(ranges, verdict.unseen)
        return verdict

    def _not_found(self, verdict: Verdict, reason: str) -> Refused | Transient:
        """Say that the SQL has to be changed; or, before all was looked at, that it may have to."""
        if verdict.unseen:
            return Transient(
                f"no record is to blame so far, {told(verdict.unseen)} are not looked at yet: the "
                "search goes on there after the next failure. Does the SQL fail on what an event "
                f"says? Then change it (try_cast, try_divide, CAST AS DOUBLE): {reason}"
            )
        ranges = self._found_good if verdict.guilty is None else [verdict.guilty]
        return self._hopeless("no single record is to blame", ranges, reason)

    def _spared(self, verdict: Verdict, reason: str) -> bool:
        folder = self._recipe.checkpoint.folder
        spared, found = read_spared(folder), verdict.place
        if found is None:
            return False
        if len(spared) >= SPARED_MAX:
            where = verdict.guilty
            raise self._hopeless(
                f"{SPARED_MAX} records are set aside already", [where] if where else [], reason
            )
        self._sieve.keep_aside(found, reason, self._clock.now_ms())
        note_spared(folder, [*spared, found])
        metrics.SPARED.labels(self._watch).inc()
        log.error(
            "record_spared",
            watch=self._watch,
            topic=found.topic,
            partition=found.partition,
            offset=found.offset,
            reason=reason,
        )
        return True

    def accept_loss(self, failure: Failure) -> None:
        """Count the records that are gone, and go on behind them at the next start.

        A checkpoint cannot be told to read on behind a gap, so where Spark meets one while it
        reads, the watch is built again from the oldest kept event. What is known of single records
        does not count then: a topic that was made anew has others there.
        """
        gone = lost_by(self._recipe)
        if self._recipe.settings.auditor_fail_on_data_loss:
            raise Refused(
                f"watch {self._watch}: records were deleted before they were read: {told(gone)}; "
                "set ALDEBARAN_AUDITOR_FAIL_ON_DATA_LOSS=false to go on behind them"
            )
        metrics.LOST.labels(self._watch).inc(sum(len(one) for one in gone))
        log.error("records_lost", watch=self._watch, lost=told(gone), reason=failure.reason)
        if is_gap(failure.text):
            self._found_good = ()
            self._rebuilds.begin_anew(
                f"it ends before records that are gone ({told(gone)}): {failure.reason}",
                f"let {', '.join(self._declared.streams)} keep more (retention.ms and "
                "retention.bytes of the topic)",
            )
        self._lossy = True

    def rebuild(self, failure: Failure) -> None:
        """Set the checkpoint aside, which Spark says is broken."""
        self._rebuilds.mend(failure.reason)

    @property
    def _watch(self) -> str:
        return self._recipe.declared.name

    @property
    def _declared(self) -> WatchDeclaration:
        return self._recipe.declared.watch

    def _hopeless(self, why: str, ranges: Iterable[Range], reason: str) -> Refused:
        return Refused(
            f"watch {self._watch}: its SQL fails and {why}: {reason} Somewhere in {told(ranges)}. "
            "Change the SQL (try_cast, try_divide, CAST AS DOUBLE): the watch then starts again"
        )


def told(ranges: Iterable[Range]) -> str:
    """Return ranges as a person reads them: `topic/partition: first to last`."""
    listed = [f"{one.topic}/{one.partition}: {one.first} to {one.end - 1}" for one in ranges]
    more = f" and {len(listed) - _TOLD_RANGES} more" if len(listed) > _TOLD_RANGES else ""
    return ", ".join(listed[:_TOLD_RANGES]) + more
