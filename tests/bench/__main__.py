"""`make bench`: latency and sustained rate of watching and delivering, on servers of its own.

Every row runs alone, one after the other; compare rows of one section of one run only.
"""

import sys
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from tests.bench import report as reports
from tests.bench.arguments import arguments, command
from tests.bench.report import Report
from tests.bench.sections import costs, delivering, draining, latencies, profiling
from tests.bench.sections.course import Course

MEASURES: Final[Mapping[str, Callable[[Report, Course], None]]] = MappingProxyType(
    {
        "latency": latencies.measure_latency,
        "drain": draining.measure_drain,
        "profile": profiling.measure_profile,
        "loops": costs.loops,
        "variants": draining.measure_variants,
        "slope": draining.measure_slope,
        "books": costs.books,
        "gateway": costs.gateway,
        "claims": delivering.claims,
        "first_bytes": delivering.first_bytes,
        "storm": delivering.storm,
        "whole_way": delivering.whole_way,
    }
)


def main() -> int:
    """Measure the sections that the arguments name; write the report after each."""
    told, made_by = arguments(), command()
    until_seconds = time.monotonic() + told.at_most_minutes * 60
    report = reports.kept(told.report)
    for section in told.sections:
        resumes = told.resume and report.measured.get(section, {}).get("command") == made_by
        report.note(section, made_by, told.note)
        MEASURES[section](report, Course(told, resumes, until_seconds))
        report.note(section, made_by, told.note)
        table = report.write(told.report)
    sys.stdout.write(table.read_text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
