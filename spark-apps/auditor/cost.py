"""What a watch costs: the processor time of its tasks, which Spark tells when they have ended."""

from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Protocol

from py4j.protocol import Py4JError
from pyspark import SparkJobInfo
from pyspark.sql import SparkSession

from services.backbone.log import logger

log = logger(__name__)

_ENDED = frozenset({"SUCCEEDED", "FAILED"})


@dataclass(frozen=True, slots=True)
class Job:
    """One batch's work, ended; numbers grow."""

    number: int
    processor_seconds: float


class Jobs(Protocol):
    """Who tells what a query has done."""

    def ended(self, run_id: str, after: int) -> list[Job]:
        """Return the jobs of one run of a query that have ended, in order, behind this number."""


class Cost:
    """The processors that one watch keeps busy, from one commit to the next."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self.begin("", 0.0)

    def begin(self, run_id: str, now_seconds: float) -> None:
        """Note that the query was started (again)."""
        self._run_id, self._since_seconds = run_id, now_seconds
        self._last_job, self._is_due = -1, False

    def processors(self, has_committed: bool, now_seconds: float) -> float | None:
        """Return the processors used since the last time; None where nothing more is known.

        To be asked at every look. It is measured one look after a commit: Spark adds up what its
        tasks have used on a thread of its own.
        """
        is_due, self._is_due = self._is_due, has_committed
        if not is_due or now_seconds <= self._since_seconds:
            return None
        if not (ended := self._jobs.ended(self._run_id, self._last_job)):
            return None
        seconds, self._since_seconds = now_seconds - self._since_seconds, now_seconds
        self._last_job = ended[-1].number
        return sum(job.processor_seconds for job in ended) / seconds


@dataclass(frozen=True, slots=True)
class SparkJobs:
    """Reads Spark's own account of jobs and stages, which it keeps also without its pages."""

    spark: SparkSession

    def ended(self, run_id: str, after: int) -> list[Job]:
        """Return the ended jobs; none, with a word in the log, where this Spark does not tell."""
        try:
            return [
                Job(job.jobId, sum(self._seconds(stage) for stage in job.stageIds))
                for job in takewhile(_has_ended, self._behind(run_id, after))
            ]
        except Py4JError as error:
            log.warning("cost_not_measured", reason=str(error).split("\n", 1)[0])
            return []

    def _behind(self, run_id: str, after: int) -> list[SparkJobInfo]:
        tracker = self.spark.sparkContext.statusTracker()
        numbers = sorted(each for each in tracker.getJobIdsForGroup(run_id) if each > after)
        return [info for each in numbers if (info := tracker.getJobInfo(each)) is not None]

    def _seconds(self, stage: int) -> float:
        """Return what the tasks of one stage used: their own threads, on whatever machine."""
        context: Any = self.spark.sparkContext._jsc.sc()  # noqa: SLF001 - the public tracker does not tell it
        nanoseconds: int = context.statusStore().lastStageAttempt(stage).executorCpuTime()
        return nanoseconds / 1e9


def _has_ended(job: SparkJobInfo) -> bool:
    return job.status in _ENDED
