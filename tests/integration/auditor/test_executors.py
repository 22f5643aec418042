"""Executors: with one, rows between tasks go through its memory; tasks in two are not waited for.

Spark's `local-cluster` starts executors as processes of their own, as Kubernetes does in pods.
"""

import json
import subprocess
import sys

import pytest

from tests.integration.auditor.losing import ARCHIVED
from tests.integration.auditor.running import ROOT, SLOTS, Findings, Place, Sender, wait_for
from tests.integration.auditor.test_over_purchase_live import sockets_between_tasks

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


def executors(started: int, declared: int) -> dict[str, str]:
    """Return settings for so many executors; Spark is told of another number than there are."""
    cores = SLOTS // started
    options = {
        "spark.executor.instances": str(declared),
        "spark.executor.cores": str(cores),
        "spark.executor.memory": "600m",
        "spark.executor.extraJavaOptions": ARCHIVED,
    }
    return {
        "AUDITOR_MASTER": f"local-cluster[{started},{cores},1024]",
        "AUDITOR_SPARK_OPTIONS": json.dumps(options),
    }


def test_the_only_executor_needs_no_sockets_between_its_tasks(place: Place) -> None:
    place.declare("over-purchase")
    sender, alerts = Sender(place), Findings(place)
    with place.auditor(**executors(started=1, declared=1)) as auditor:
        auditor.wait_until_ready()
        for order in map(str, range(8)):  # of either task that reads, with near certainty
            sender.request(order, 1)
            sender.purchase(f"{order}-1", order, 2)
        sender.flush()
        alerts.wait_for(*map(str, range(8)))
        assert not sockets_between_tasks(auditor)
        assert auditor.terminate() == 0, auditor.log()[-3000:]


@pytest.mark.long
def test_a_task_in_another_process_is_named_and_not_waited_for(place: Place) -> None:
    place.declare("over-purchase")
    with place.auditor(**executors(started=2, declared=1)) as auditor:
        wait_for("it is said", lambda: "runs in another process" in auditor.log())


def test_an_executor_that_was_killed_is_known_whatever_the_failure_says(place: Place) -> None:
    program = [sys.executable, "-m", "tests.integration.auditor.losing"]
    told = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_SUBMIT_OPTS": ARCHIVED}
    environment = place.environment() | told
    ended = subprocess.run(
        program, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    before, after, later = ended.stdout.splitlines()
    assert (before, later) == ("None", "None")
    assert after.startswith("executor 0 was lost (")
