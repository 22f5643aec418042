"""What a running auditor asks of a change: every remark is told, and both trials are made."""

import threading

import pytest
from pyspark.sql import SparkSession
from structlog.testing import capture_logs

from auditor.changes.means import RealMeans
from auditor.job import Scene
from auditor.settings import AuditorSettings
from services.backbone.clock import SystemClock
from services.backbone.errors import Refused, Transient
from tests.unit.auditor.test_scrutiny import ENDLESS, cpu_high
from tests.unit.auditor.test_trial import keyed_by_stock


@pytest.fixture
def means(spark: SparkSession) -> RealMeans:
    return RealMeans(Scene(spark, AuditorSettings(), SystemClock()))


def test_a_change_whose_heartbeat_would_alert_people_is_refused(means: RealMeans) -> None:
    with pytest.raises(Refused, match="heartbeat would alert people"):
        means.try_out(keyed_by_stock("BEAT", 11), threading.Event())


def test_remarks_are_told_and_a_trial_that_is_broken_off_ends(means: RealMeans) -> None:
    broken_off = threading.Event()
    broken_off.set()
    with capture_logs() as logs, pytest.raises(Transient):
        means.try_out(cpu_high(ENDLESS["no window"]), broken_off)
    assert [each["event"] for each in logs].count("watch_doubtful") == 1
