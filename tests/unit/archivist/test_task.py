"""A job that fails waits before it is tried again, and ends the program when it never works."""

import random
from collections.abc import Callable

import pytest
from prometheus_client import REGISTRY
from pyspark import SparkConf
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway

from archivist.gaps import told
from archivist.settings import ArchivistSettings
from archivist.task import Task
from engine.failures import first_line
from engine.restarts import Failures, RestartLimit
from services.backbone.clock import ManualClock
from services.backbone.errors import Refused, Transient
from services.backbone.service import Life


def task(life: Life, work: Callable[[], bool], failures_max: int = 2) -> Task:
    limit = RestartLimit(failures_max, window_seconds=1000)
    return Task("job", work, Failures(limit, random.Random(1)), life)


def failing() -> bool:
    raise PySparkException("the disk is full\nand more")


def failures() -> float:
    counted = REGISTRY.get_sample_value("aldebaran_archivist_failures_total", {"task": "job"})
    assert counted is not None
    return counted


def test_a_failed_job_waits_and_then_works() -> None:
    clock, broken = ManualClock(), [True]

    def work() -> bool:
        return failing() if broken.pop() else True

    job = task(Life(clock=clock), work)
    before = failures()
    assert not job.turn()
    assert failures() == before + 1
    broken.append(False)
    assert not job.turn()
    clock.move(60)
    assert job.turn()


def test_failures_are_counted_from_nought_before_the_first() -> None:
    new = Task("new", failing, Failures(RestartLimit(1, 1000), random.Random(1)), Life())
    count = REGISTRY.get_sample_value("aldebaran_archivist_failures_total", {"task": new.name})
    assert count == 0


def test_a_job_that_never_works_ends_the_program() -> None:
    clock = ManualClock()
    job = task(Life(clock=clock), failing)
    for _ in range(2):
        assert not job.turn()
        clock.move(60)
    with pytest.raises(Transient, match=r"job failed too often, last: the disk is full$"):
        job.turn()


GONE = PySparkException(
    "[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: Some data may have been "
    "lost because they are not available in Kafka any more;\n"
    "either the data was aged out by Kafka or the topic may have been deleted before all the data "
    "in the\ntopic was processed.\nIf you don't want your streaming query to fail on such cases, "
    "set the source option failOnDataLoss to false.\n"
    "Reason: Starting offset for trades-0 was 5 but consumer reset to 10. SQLSTATE: XXKST"
)


def test_records_that_are_gone_are_told_with_the_setting_and_end_the_program_as_refused() -> None:
    clock, settings = ManualClock(), ArchivistSettings()

    def gap() -> bool:
        raise told(GONE, settings, "archive trades")

    job = task(Life(clock=clock), gap)
    for _ in range(2):
        assert not job.turn()
        clock.move(60)
    with pytest.raises(Refused, match=r"^archive trades: .*ARCHIVIST_FAIL_ON_DATA_LOSS=false"):
        job.turn()


@pytest.mark.parametrize(
    ("error", "which"),
    [
        (GONE, "Starting offset for trades-0 was 5 but consumer reset to 10."),
        (PySparkException("OffsetOutOfRangeException: trades-0\nat x"), "Exception: trades-0"),
    ],
)
def test_which_records_are_gone_is_told_last_and_still_fits_into_a_log_line(
    error: Exception, which: str
) -> None:
    said = first_line(told(error, ArchivistSettings(), "archive trades"))
    assert which in said.rpartition("may have been there: ")[2]
    assert "failOnDataLoss" not in said


@pytest.mark.parametrize(
    ("error", "stops"), [(GONE, False), (PySparkException("the disk is full"), True)]
)
def test_a_failure_that_is_no_gap_to_decide_about_is_told_as_it_is(
    error: Exception, *, stops: bool
) -> None:
    settings = ArchivistSettings(archivist_fail_on_data_loss=stops)
    assert told(error, settings, "archive trades") is error


@pytest.mark.spark
def test_once_java_has_ended_the_program_ends_at_once() -> None:
    gateway = launch_gateway(SparkConf())  # type: ignore[no-untyped-call] # PySpark's
    count = gateway.jvm.java.util.ArrayList()
    with gateway.proc as java:
        java.kill()
    job = task(Life(clock=ManualClock()), lambda: bool(count.size()))
    with pytest.raises(Transient, match=r"^job: Java has ended \("):
        job.turn()


def test_what_the_end_breaks_off_is_no_failure() -> None:
    life = Life(clock=ManualClock())

    def cancelled() -> bool:
        life.stop.set()
        return failing()

    before = failures()
    job = task(life, cancelled)
    assert not job.turn()
    assert not job.turn()
    assert failures() == before
