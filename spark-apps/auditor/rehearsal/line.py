"""`python -m auditor rehearse`: one rehearsal, from a file of JSON to another, and the end."""

import os
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import ValidationError
from pyspark.sql import SparkSession

from auditor.queries.declared import Declared
from auditor.queries.room import room
from auditor.rehearsal.course import Bounds
from auditor.rehearsal.rehearsing import Limits, rehearse
from auditor.rehearsal.versions import read_versions
from auditor.session import open_session
from auditor.settings import AuditorSettings
from engine.session import quieten
from services.backbone.clock import SystemClock
from services.backbone.errors import Refused, Transient
from services.backbone.log import set_up_logging
from services.backbone.niceness import step_back
from services.backbone.settings import EXIT_BAD_SETTINGS
from services.contracts.declarations import BadDeclaration
from services.contracts.records import describe
from services.contracts.rehearsals import Answer, Rehearsal

SLOTS: Final = 64
"""Threads, not cores: most of them wait."""
ROWS_MAX: Final = 20_000
EXIT_AWAY: Final = 69
"""`EX_UNAVAILABLE`: the brokers do not answer."""
_LAST: Final = "1000"


@dataclass(frozen=True, slots=True)
class Errand:
    """What the command line asks for: files of question and answer, and bounds."""

    question: Path
    answer: Path
    records: int
    seconds: float
    niceness: int


def carry_out(settings: AuditorSettings, errand: Errand) -> int:
    """Try what the question says and write the answer; return the exit code."""
    set_up_logging("rehearsal", settings)
    step_back(errand.niceness)
    be_the_first_to_end()
    threading.Thread(target=end_with_parent, name="parent", daemon=True).start()
    try:
        rehearsal = Rehearsal.model_validate_json(errand.question.read_bytes())
    except (OSError, ValidationError) as error:
        said = describe(error) if isinstance(error, ValidationError) else str(error)
        sys.stderr.write(f"{errand.question.name}: {said}\n")
        return EXIT_BAD_SETTINGS
    try:
        answer = _tried(settings, rehearsal, errand)
    except (Refused, Transient) as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_BAD_SETTINGS if isinstance(error, Refused) else EXIT_AWAY
    errand.answer.write_text(answer.model_dump_json())
    return 0


def be_the_first_to_end() -> None:
    """Be the first to end if the machine's memory is short."""
    try:
        Path("/proc/self/oom_score_adj").write_text(_LAST)
    except OSError:
        return  # another system than Linux: the heap's bound has to do


def end_with_parent() -> None:
    """Wait until whoever has started this closes our input or dies, and end at once."""
    while os.read(0, 4096):  # not sys.stdin: its lock would hold up our own end
        continue
    os._exit(EXIT_AWAY)


def alone(settings: AuditorSettings) -> AuditorSettings:
    """Return the settings of a Spark in this process, wherever the auditors run theirs."""
    return settings.model_copy(update={"auditor_master": "", "auditor_slots": SLOTS})


def with_room(
    answer: Answer, spark: SparkSession, settings: AuditorSettings, declared: Declared
) -> Answer:
    """Return the answer with what a check of the file says of the auditors' slots."""
    return answer.model_copy(update={"room": room(spark, settings, declared)})


def _tried(settings: AuditorSettings, rehearsal: Rehearsal, errand: Errand) -> Answer:
    """Try it; what is wrong with the text is told before Spark is started."""
    with tempfile.TemporaryDirectory(prefix="aldebaran-rehearsal-") as folder:
        try:
            versions = read_versions(rehearsal, settings, Path(folder))
        except (BadDeclaration, Refused) as error:
            return Answer(refused=str(error))
    limits = Limits(errand.records, Bounds(ROWS_MAX, errand.seconds))
    here = alone(settings)
    spark = open_session(here)
    try:
        clock, span_seconds = SystemClock(), rehearsal.span_seconds
        answer = rehearse(spark, here, clock, versions, span_seconds, limits)
        return answer if answer.refused else with_room(answer, spark, settings, versions.new)
    finally:
        quieten(spark)
        spark.stop()
