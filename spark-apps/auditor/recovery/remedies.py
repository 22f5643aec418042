"""What is done for a watch in trouble, on real brokers and a real checkpoint."""

import threading
from dataclasses import asdict

from pyspark.sql.streaming.query import StreamingQuery

from auditor import metrics
from auditor.checkpoints.ranges import told
from auditor.checkpoints.spared import note_spared, read_spared
from auditor.queries.patience import patient
from auditor.queries.query import Recipe
from auditor.queries.trial import try_out
from auditor.recovery.executors import lost_since
from auditor.recovery.guilt import GuiltSearch, place_to_spare, unfinished
from auditor.recovery.poison import Verdict
from auditor.recovery.probation import Probation
from auditor.recovery.reach import lost_by
from auditor.recovery.rebuilds import Rebuilds
from auditor.recovery.sieve import Sieve
from auditor.trouble import Failure, is_gap, not_begun, outside
from services.backbone.clock import Clock
from services.backbone.errors import Refused, Transient
from services.backbone.log import logger

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
        self._broken_off = threading.Event()
        self._sieve = Sieve(recipe, self._broken_off)
        self._search = GuiltSearch(recipe, self._sieve, clock)
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
        self._spare(self._search.go_on(), failure.reason)

    def suspect(self, failure: Failure) -> None:
        """Find out by exclusion what a failure comes from: record, outside, query, disk, state.

        Only what nothing else explains is the checkpoint's.
        """
        _rule_out(not_begun(failure.text), failure)
        verdict = self._search.go_on()
        if verdict.guilty is not None:
            self._spare(verdict, failure.reason)
            return
        # Where no record fails alone, rows are not heard: much else may cause what nobody knows.
        _rule_out(outside(failure.text) or self._lost(), failure)
        if verdict.unseen:
            raise unfinished(verdict.unseen, failure.reason)
        recipe = self._recipe
        try_out(recipe.spark, recipe.declared, self._clock, self._broken_off)
        recipe.checkpoint.try_to_write()
        self._rebuilds.mend(f"the query runs without it: {failure.reason}")

    def accept_loss(self, failure: Failure) -> None:
        """Count the records that are gone, and go on without them at the next start.

        Where Spark meets the gap while it reads, what is known of single records does not count
        any more: a topic that was made anew has others there.
        """
        watch, gone = self._recipe.declared.name, lost_by(self._recipe)
        if self._recipe.settings.auditor_fail_on_data_loss:
            raise Refused(
                f"watch {watch}: records were deleted before they were read: {told(gone)}; "
                "with ALDEBARAN_AUDITOR_FAIL_ON_DATA_LOSS=false it goes on without them, built "
                "again from the oldest kept event where it cannot read on behind them"
            )
        metrics.LOST.labels(watch).inc(sum(len(one) for one in gone))
        log.error("records_lost", watch=watch, lost=told(gone), reason=failure.reason)
        if is_gap(failure.text):
            self._search.forget()
            self._rebuilds.pass_gap(gone, failure.reason)
        self._lossy = True

    def rebuild(self, failure: Failure) -> None:
        """Set the checkpoint aside, which Spark says is broken."""
        self._rebuilds.mend(failure.reason)

    def _spare(self, verdict: Verdict, reason: str) -> None:
        self._probation.hear(verdict, reason)
        watch, folder = self._recipe.declared.name, self._recipe.checkpoint.folder
        spared = read_spared(folder)
        place = place_to_spare(watch, verdict, len(spared), reason)
        # Kept aside first: cut short before the note, it is found and kept once more, and not lost.
        self._sieve.keep_aside(place, reason, self._clock.now_ms())
        note_spared(folder, [*spared, place])
        metrics.SPARED.labels(watch).inc()
        log.error("record_spared", watch=watch, **asdict(place), reason=reason)

    def _lost(self) -> str | None:
        """Say which executor went since the last start: what is left over names another failure."""
        return lost_since(self._recipe.spark, self._started_at_ms)


def _rule_out(cause: str | None, failure: Failure) -> None:
    """Look no further where a cause is known: it passes by itself."""
    if cause is not None:
        raise Transient(f"{cause}: {failure.reason}")
