"""Section `profile`: what each step of the shipped watch costs."""

from services.contracts.streams import load_streams
from tests.bench.drain import STREAM, write_backlog
from tests.bench.engine import SHIPPED, Scene
from tests.bench.profiling.profile import profile
from tests.bench.report import Report
from tests.bench.sections.course import Course, attempt, bench_topics, say
from tests.bench.stores import running_broker


def measure_profile(report: Report, course: Course) -> None:
    """Fill one topic, and sample an auditor that drains it, as often as visits are asked for."""
    told, partitions = course.told, load_streams()[STREAM].partitions
    report.profile, report.skipped["profile"] = [], []
    with running_broker(bench_topics()) as broker:
        backlog = write_backlog(broker.bootstrap, told.backlog, partitions)
        for number in range(told.visits):
            say(f"profiling, visit {number}")
            home, length = broker.home / f"profile-{number}", told.drain_batch_seconds
            scene = Scene(broker.bootstrap, home, SHIPPED, length, partitions)
            with attempt(report, "profile", "single"):
                report.profile.append(profile(scene, backlog, number))
            report.write(told.report)
