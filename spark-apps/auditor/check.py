"""Holds watch files against the real analyser and Real-time Mode, without brokers."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from auditor.queries.declared import read_watch
from auditor.queries.room import room
from auditor.queries.scrutiny import scrutinize
from auditor.queries.trial import try_beats, try_out
from auditor.session import open_session
from auditor.settings import AuditorSettings
from engine.session import quieten
from services.backbone.clock import SystemClock
from services.backbone.errors import Refused, Transient
from services.backbone.settings import EXIT_BAD_SETTINGS
from services.contracts.declarations import BadDeclaration
from services.contracts.streams import load_streams


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of one file, in lines; too few slots are told, and are no fault of the file."""

    can_run: bool
    lines: tuple[str, ...]


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
    for file, verdict in zip(files, verdicts, strict=True):
        sys.stdout.writelines(f"{file}: {line}\n" for line in verdict.lines)
    return 0 if all(verdict.can_run for verdict in verdicts) else EXIT_BAD_SETTINGS


def _verdict(spark: SparkSession, settings: AuditorSettings, file: Path) -> Verdict:
    try:
        declared = read_watch(file, load_streams(settings.auditor_streams))
        remarks = scrutinize(spark, declared)
        try_out(spark, declared, SystemClock())
        try_beats(spark, declared, SystemClock())
        return Verdict(True, ("can run", *remarks, room(spark, settings, declared)))
    except (BadDeclaration, Refused, Transient) as error:
        return Verdict(False, (str(error),))
