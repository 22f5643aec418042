"""Sections `loops`, `books` and `gateway`: what single things cost."""

from services.contracts.streams import load_streams
from tests.bench.books import measure_books
from tests.bench.drain import STREAM
from tests.bench.gateway import measure_gateway
from tests.bench.loops import measure_loop
from tests.bench.report import Report
from tests.bench.sections.course import Course, attempt, bench_topics, say
from tests.bench.stores import running_broker


def loops(report: Report, course: Course) -> None:
    """Measure the rule by itself, in Java and in Python."""
    report.loops, report.skipped["loops"] = [], []

    def measure(language: str) -> None:
        report.loops.append(measure_loop(language, course.told.backlog // 2))

    for language in ("java", "python"):
        say(f"bare loop in {language}")
        with attempt(report, "loops", language):
            measure(language)


def books(report: Report, course: Course) -> None:
    """Measure what open books take, few and many."""
    report.books = []
    for number in course.told.books:
        say(f"{number} open books")
        with running_broker(bench_topics()) as broker:
            report.books.append(measure_books(broker, number, load_streams()[STREAM].partitions))
        report.write(course.told.report)


def gateway(report: Report, course: Course) -> None:
    """Measure the gateway with requests of one event and of many."""
    say("gateway")
    with running_broker(bench_topics()) as broker:
        report.gateway = measure_gateway(broker, (200, 1), min(20.0, course.told.seconds))
