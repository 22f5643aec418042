"""Holds watch files against the real analyser and Real-time Mode, without brokers."""

import sys
from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import SparkSession

from auditor.book import read_watch
from auditor.session import open_session
from auditor.settings import AuditorSettings
from auditor.trial import try_out
from engine.session import quieten
from services.backbone.clock import SystemClock
from services.backbone.errors import Refused, Transient
from services.backbone.settings import EXIT_BAD_SETTINGS
from services.contracts.declarations import BadDeclaration
from services.contracts.streams import load_streams


def check(settings: AuditorSettings, files: Sequence[Path]) -> int:
    """Check each file and say what comes of it; return 0 if all of them could run."""
    try:
        spark = open_session(settings)
    except Refused as error:
        sys.stdout.write(f"{error}\n")
        return EXIT_BAD_SETTINGS
    quieten(spark)
    try:
        verdicts = [_verdict(spark, settings, file) for file in files]
    finally:
        spark.stop()
    for file, problem in zip(files, verdicts, strict=True):
        sys.stdout.write(f"{file}: {problem or 'can run'}\n")
    return EXIT_BAD_SETTINGS if any(verdicts) else 0


def _verdict(spark: SparkSession, settings: AuditorSettings, file: Path) -> str | None:
    try:
        streams = load_streams(settings.auditor_streams)
        try_out(spark, read_watch(file, streams), SystemClock())
    except (BadDeclaration, Refused, Transient) as error:
        return str(error)
    return None
