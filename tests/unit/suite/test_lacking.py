"""A far end that is not installed is named at the end, or fails where all are asked for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lacking import ALL_PEERS, told_of
from tests.parts import NO_TESTS, TESTS, Ended, summary

LACKING = """
import pytest

@pytest.fixture
def nagios():
    pytest.skip("no Nagios here: apt-get install nagios4-core")

def test_by_fixture(nagios):
    pass

@pytest.mark.skipif(True, reason="needs curl: apt-get install curl")
def test_by_mark():
    pass

@pytest.mark.skipif(True, reason="no Helm: run `make chart-tools`")
def test_of_the_chart():
    pass

@pytest.mark.skipif(True, reason="needs root")
def test_of_something_else():
    pass
"""


def run(folder: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    (folder / "test_lacking.py").write_text(LACKING)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-ra", "-p", "tests.lacking", str(folder)]
    settings = os.environ | {"PYTHONPATH": str(TESTS.parent), ALL_PEERS: ""} | environment
    return subprocess.run(command, env=settings, capture_output=True, text=True, check=False)


def test_what_was_skipped_is_told_with_the_command_that_installs_it(tmp_path: Path) -> None:
    ran = run(tmp_path)
    assert ran.returncode == 0, ran.stdout
    told = list(told_of({"unit": ran.stdout, "promises": ran.stdout, "other": "3 passed"}))
    assert told == [
        "skipped: 2 in promises, unit: needs curl: apt-get install curl",
        "skipped: 2 in promises, unit: needs root",
        "skipped: 2 in promises, unit: no Helm: run `make chart-tools`",
        "skipped: 2 in promises, unit: no Nagios here: apt-get install nagios4-core",
        "to run these too: sudo apt-get install curl nagios4-core; make chart-tools;"
        " ALL_PEERS=1 allows no skip",
    ]
    said = summary([Ended("unit", 0, 1.0, ran.stdout), Ended("matrix", NO_TESTS, 1.0, "")])
    assert said.splitlines()[-6:-1] == [each.replace("2 in promises, ", "1 in ") for each in told]
    assert said.splitlines()[-1] == "all parts passed"


def test_where_all_far_ends_are_asked_for_none_may_be_lacking(tmp_path: Path) -> None:
    ran = run(tmp_path, **{ALL_PEERS: "1"})
    assert ran.returncode == pytest.ExitCode.TESTS_FAILED
    assert "1 skipped, 3 errors" in ran.stdout
    assert "no Helm: run `make chart-tools` (ALL_PEERS=1 allows no skip)" in ran.stdout
    assert "no Nagios here: apt-get install nagios4-core (ALL_PEERS=1 allows no skip)" in ran.stdout
