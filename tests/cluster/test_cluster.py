"""The chart on a real cluster: installed, tried, hurt, scaled, upgraded, rolled back; counts exact.

`make cluster-test` runs it and writes docs/reports/cluster.md. `CLUSTER_ONLY` picks cells whose
title it matches as a regular expression; `CLUSTER_RUNNER` is auditor.runner, `CLUSTER_EXECUTORS`
how many an auditor has (one for each watch), `CLUSTER_WATCHES` names the shipped watches that run,
`CLUSTER_BROKERS` is how many brokers there are, 1 or 3;
`CLUSTER_TAG` and `CLUSTER_NEXT_TAG` are the tags of our images before and after the upgrade;
`CLUSTER_SET` is further values of the chart; `CLUSTER_STORE` keeps checkpoints in an S3 server on
this machine; `CLUSTER_KEEP` leaves the release for the next run; `CLUSTER_NAMESPACE` is where.
"""

import os
import re
import uuid

import pytest

from services.machine.problems import MachineProblem
from tests.cluster.cells import plan
from tests.cluster.conftest import RUNNER, RUNS
from tests.cluster.release import Release
from tests.cluster.report import ClusterReport
from tests.cluster.trial import Trial

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(7200)]


def test_the_charts_own_test_passes(release: Release) -> None:
    assert "told by" in release.test()


def test_every_accepted_over_purchase_alerts_once_whatever_happens_to_the_release(
    release: Release, cluster_report: ClusterReport
) -> None:
    only = re.compile(os.environ.get("CLUSTER_ONLY", ""))
    wrong: list[str] = []
    for cell in plan(executors=RUNNER != "local"):
        if not only.search(cell.title):
            continue
        try:
            trial = Trial(release, cell, f"k{uuid.uuid4().hex[:8]}")
            outcome = cluster_report.played(RUNS, trial)
        except (MachineProblem, AssertionError) as problem:
            wrong.append(f"{cell.title}: {problem!r}")
            continue
        wrong += [f"{cell.title}: {outcome.counts}"] * (not outcome.counts.right)
    assert not wrong, wrong
