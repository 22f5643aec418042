"""Sections `claims`, `first_bytes` and `storm`, the delivering part, and `whole_way`."""

import tempfile
from itertools import product
from pathlib import Path
from typing import Final

from tests.bench.delivering.claims import measure_claims
from tests.bench.delivering.first_byte import measure_first_byte
from tests.bench.delivering.storm import measure_storm
from tests.bench.delivering.whole_way import measure_whole_way
from tests.bench.report import Report
from tests.bench.sections.course import Course, attempt, say

WARM_UP_SECONDS: Final = 60.0
"""So long the brokers' Java compiles what it runs, on the same two cores."""
WHOLE_WARM_UP_SECONDS: Final = 300.0
"""So long the auditors' does, where all that `make run` starts is on these two cores."""
EVENTS_PER_SECOND: Final = 50
"""Among which the alerts of `whole_way` are."""


def claims(report: Report, course: Course) -> None:
    """Measure claims."""
    told = course.told
    report.claims = []
    for waiting in told.waiting:
        say(f"claims on {waiting} waiting deliveries")
        with tempfile.TemporaryDirectory() as folder:
            seconds = min(10.0, told.first_byte_seconds)
            report.claims += measure_claims(Path(folder), waiting, (1, 10, 100), seconds)
        report.write(told.report)


def first_bytes(report: Report, course: Course) -> None:
    """Measure the way from an alert to its first byte."""
    told = course.told
    report.first_bytes, report.skipped["first_bytes"] = [], []

    def measure(channel: str, each: int) -> None:
        row = measure_first_byte(channel, 100, told.first_byte_seconds, WARM_UP_SECONDS, each)
        report.first_bytes.append(row)

    for channel, each in product(told.channels, told.programs_each):
        say(f"first byte on {channel}, {each} of each program")
        with attempt(report, "first_bytes", channel):
            measure(channel, each)
        report.write(told.report)


def storm(report: Report, course: Course) -> None:
    """Measure a storm of alerts."""
    say(f"storm of {course.told.storm} alerts")
    report.storm = measure_storm(course.told.storm, 10_000, 200, max(course.told.programs_each))


def whole_way(report: Report, course: Course) -> None:
    """Measure the way from a publisher's request to the first byte, through all of it."""
    told = course.told
    report.whole_way, report.skipped["whole_way"] = [], []
    warm_up_seconds = min(WHOLE_WARM_UP_SECONDS, 10 * told.warm_up)

    def measure(alerts: float) -> None:
        row = measure_whole_way(alerts, EVENTS_PER_SECOND, told.whole_way_seconds, warm_up_seconds)
        report.whole_way.append(row)

    for alerts in told.alerts:
        say(f"the whole way, {alerts:g} alerts a second")
        with attempt(report, "whole_way", f"{alerts:g} alerts a second"):
            measure(alerts)
        report.write(told.report)
