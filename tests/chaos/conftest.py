"""The stage that the kill matrix is played on, and its report."""

import os
import platform
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.chaos.report import ChaosReport
from tests.chaos.setting import behind_doors
from tests.chaos.stage import Stage
from tests.chaos.trial import CUT_SECONDS, STILL_SECONDS

BATCH_SECONDS = 10


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Everything with three brokers behind doors, up and ready."""
    with behind_doors(tmp_path_factory.mktemp("chaos") / "home", BATCH_SECONDS) as stage:
        stage.open()
        yield stage
        stage.close()


@pytest.fixture(scope="session")
def chaos_report() -> Iterator[ChaosReport]:
    """The cells of this run; the file is written after each, so that a run cut short tells too."""
    lasting = f"{CUT_SECONDS:g} s, SIGSTOP {STILL_SECONDS:g} s"
    named = os.environ.get("CHAOS_REPORT")
    report = ChaosReport(lasting, Path(named) if named else None)
    report.facts.append(f"{machine()}; auditors' batches of {BATCH_SECONDS} s")
    report.facts.append(f"load before the run {load()}")
    yield report
    report.facts.append(f"load after the run {load()}")
    report.write()


def machine() -> str:
    """Return what the run was made on."""
    gibibytes = psutil.virtual_memory().total / 2**30
    return f"{psutil.cpu_count()} cores, {gibibytes:.0f} GiB, {platform.system()}"


def load() -> str:
    """Return the load averages over 1, 5 and 15 minutes."""
    return ", ".join(f"{each:.1f}" for each in psutil.getloadavg())
