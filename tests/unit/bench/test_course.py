"""A section measured in parts: what was made stays, what is missing is made, in time."""

import argparse
import sys
import time

import pytest

from tests.bench import arguments
from tests.bench.report import Report, Skipped
from tests.bench.sections.course import Course, attempt


def course(resumes: bool = True, seconds: float = 60.0) -> Course:
    told = argparse.Namespace(visits=2)
    return Course(told, resumes, time.monotonic() + seconds)


def test_only_missing_visits_are_made() -> None:
    made = {("a", 0), ("b", 0)}
    assert list(course().visits(["a", "b"], made)) == [("b", 1), ("a", 1)]


def test_no_visit_begins_after_the_time() -> None:
    assert list(course(seconds=-1.0).visits(["a"], set())) == []


def test_rows_of_another_command_are_not_gone_on_from() -> None:
    assert course().kept(["row"]) == ["row"]
    assert course(resumes=False).kept(["row"]) == []


def test_row_that_cannot_be_measured_is_told_once() -> None:
    report = Report()
    for _ in range(2):
        with attempt(report, "drain", "flink-heap"):
            raise RuntimeError("no JDK")
    assert report.skipped == {"drain": [Skipped("flink-heap", "no JDK")]}


def test_command_makes_the_run_in_one_go(monkeypatch: pytest.MonkeyPatch) -> None:
    told = ["bench", "--sections", "drain", "--at-most-minutes", "9", "--resume", "--visits", "2"]
    told += ["--note", "quiet at last"]
    monkeypatch.setattr(sys, "argv", told)
    assert arguments.command() == 'make bench BENCH="--sections drain --visits 2"'
    monkeypatch.setattr(sys, "argv", ["bench", "--resume"])
    assert arguments.command() == "make bench"
