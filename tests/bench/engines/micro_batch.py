"""The auditor's query with Spark's micro-batch trigger, as a program."""

import sys

from auditor.__main__ import declarations
from auditor.job import prepare_all, sink
from auditor.session import open_session
from auditor.settings import AuditorSettings
from services.backbone.service import Life, run
from services.backbone.settings import read_settings


def main() -> int:
    """Run the watches until SIGTERM, one micro-batch after the other without a pause."""
    settings = read_settings(AuditorSettings)
    return run("micro-batch", settings, lambda life: _audit(settings, life))


def _audit(settings: AuditorSettings, life: Life) -> None:
    streams, watches = declarations(settings)
    started: list[str] = []
    life.health.add_ready("watches", lambda: None if started else "the watches are not started")
    spark = open_session(settings)
    prepared = prepare_all(spark, settings, streams, watches)
    queries = [
        sink(each, settings).trigger(processingTime="0 seconds").start() for each in prepared
    ]
    started += [each.watch.watch for each in prepared]
    life.stop.wait()
    for query in queries:
        query.stop()
    spark.stop()


if __name__ == "__main__":
    sys.exit(main())
