"""What a running query tells about itself, as values, metrics and health."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from pyspark.sql.streaming.listener import StreamingQueryProgress

from auditor import metrics
from auditor.queries.books import FULL
from engine.events import MALFORMED

_DISK = "rocksdbSstFileSize"
"""Size of the state's files, as Spark's store names it."""
_LOOKS = "rocksdbGetCount"
LOOKING_MS = "rocksdbGetLatency"
"""Whole milliseconds of each store's looks in a batch."""


@dataclass(frozen=True, slots=True)
class StateUse:
    """What a batch had of the state store, summed over its parts."""

    memory_bytes: int = 0
    disk_bytes: int = 0
    updates: int = 0
    looks: int = 0
    look_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Progress:
    """One committed batch."""

    batch: int
    rows: int
    malformed: int
    full: int
    late: int
    findings: int
    watermark_seconds: float
    took_seconds: float
    ended_at_ms: int
    parts_ms: Mapping[str, int] = field(default_factory=dict)
    """How long the parts of the batch took, as Spark names them."""
    state: StateUse = field(default_factory=StateUse)


def read(progress: StreamingQueryProgress) -> Progress:
    """Pick what we use from Spark's report."""
    observed = [row.asDict() for row in progress.observedMetrics.values()]
    return Progress(
        batch=progress.batchId,
        rows=progress.numInputRows,
        malformed=sum(row.get(MALFORMED) or 0 for row in observed),
        full=sum(row.get(FULL) or 0 for row in observed),
        late=sum(state.numRowsDroppedByWatermark for state in progress.stateOperators),
        findings=max(0, progress.sink.numOutputRows),
        watermark_seconds=_watermark(progress),
        took_seconds=progress.batchDuration / 1000,
        ended_at_ms=_started_at_ms(progress) + progress.batchDuration,
        parts_ms=_parts_ms(progress),
        state=_state_use(progress),
    )


def _state_use(progress: StreamingQueryProgress) -> StateUse:
    states = progress.stateOperators

    def of_rocksdb(name: str) -> int:
        return sum(int(state.customMetrics.get(name, 0)) for state in states)

    return StateUse(
        memory_bytes=sum(state.memoryUsedBytes for state in states),
        disk_bytes=of_rocksdb(_DISK),
        updates=sum(state.numRowsUpdated for state in states),
        looks=of_rocksdb(_LOOKS),
        look_seconds=of_rocksdb(LOOKING_MS) / 1000,
    )


def _parts_ms(progress: StreamingQueryProgress) -> dict[str, int]:
    """The state's parts are sums over tasks that work side by side."""
    states = progress.stateOperators
    return {
        **progress.durationMs,
        "stateCommit": sum(state.commitTimeMs for state in states),
        "stateRemovals": sum(state.allRemovalsTimeMs for state in states),
    }


def _started_at_ms(progress: StreamingQueryProgress) -> int:
    return round(datetime.fromisoformat(progress.timestamp).timestamp() * 1000)


def _watermark(progress: StreamingQueryProgress) -> float:
    text = progress.eventTime.get("watermark")
    return datetime.fromisoformat(text).timestamp() if text else 0.0


def count(watch: str, progress: Progress) -> None:
    """Add one batch to the metrics."""
    metrics.BATCHES.labels(watch).inc()
    metrics.ROWS.labels(watch).inc(progress.rows)
    if progress.took_seconds > 0:
        metrics.ROW_RATE.labels(watch).set(progress.rows / progress.took_seconds)
        metrics.FINDING_RATE.labels(watch).set(progress.findings / progress.took_seconds)
    metrics.MALFORMED.labels(watch).inc(progress.malformed)
    metrics.FULL_BOOKS.labels(watch).inc(progress.full)
    metrics.LATE.labels(watch).inc(progress.late)
    metrics.FINDINGS.labels(watch).inc(progress.findings)
    _count_state(watch, progress.state)
    metrics.WATERMARK.labels(watch).set(progress.watermark_seconds)


def _count_state(watch: str, state: StateUse) -> None:
    metrics.STATE_BYTES.labels(watch).set(state.memory_bytes)
    metrics.STATE_DISK_BYTES.labels(watch).set(state.disk_bytes)
    metrics.STATE_UPDATES.labels(watch).inc(state.updates)
    metrics.STATE_LOOKS.labels(watch).inc(state.looks)
    metrics.STATE_LOOK_SECONDS.labels(watch).inc(state.look_seconds)


class Pulse:
    """Tells whether one watch's batches progress; read by the health page's thread.

    All times are of the clock that stands still with the machine, as Spark's timers do.
    """

    def __init__(self, watch: str, limit_seconds: float, now_seconds: float) -> None:
        self._watch = watch
        self._limit_seconds = limit_seconds
        self._last_seconds = now_seconds
        self._committed_seconds = now_seconds
        self._last_batch = -1
        self._active = False

    def started(self, now_seconds: float) -> None:
        """Note that the query was started (again)."""
        self._last_seconds = now_seconds
        self._last_batch = -1
        self._active = False

    @property
    def has_ended_batch(self) -> bool:
        """Whether a batch has ended since the query was started (again)."""
        return self._last_batch >= 0

    def is_new(self, batch: int) -> bool:
        """Tell whether this batch has ended since the last one that was taken."""
        return batch > self._last_batch

    def take(self, batches: Iterable[Progress], active: bool, now_seconds: float) -> list[Progress]:
        """Note what the query tells; return the batches that are new."""
        self._active = self._active or active
        fresh = [batch for batch in batches if self.is_new(batch.batch)]
        if fresh:
            self._last_batch = fresh[-1].batch
            self._last_seconds = self._committed_seconds = now_seconds
        return fresh

    def age_seconds(self, now_seconds: float) -> float:
        """Return the time since the last batch, however often the query was started since then."""
        return now_seconds - self._committed_seconds

    def dead(self, now_seconds: float) -> str | None:
        """Say what is wrong if batches do not progress."""
        age = now_seconds - self._last_seconds
        if age <= self._limit_seconds:
            return None
        return f"watch {self._watch}: no batch for {age:.0f} s, limit {self._limit_seconds:.0f} s"

    def not_ready(self) -> str | None:
        """Say what is missing until the first batch runs."""
        return None if self._active else f"watch {self._watch}: its first batch has not started"
