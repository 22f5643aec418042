"""`python -m auditor`: runs every watch of a folder; `check FILE` says whether one could run;
`rehearse` tries one over recent events.
"""

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from auditor.check import check
from auditor.job import Scene, prepare
from auditor.rehearsal.line import Errand, carry_out
from auditor.session import open_session
from auditor.settings import AuditorSettings
from auditor.watching import Opening, open_fleet, read_opening, watch_until_stop
from engine.failures import first_line
from engine.java import BROKEN_OFF, has_ended
from engine.session import quieten
from engine.store import check_reach
from services.backbone.errors import Ended
from services.backbone.log import logger
from services.backbone.service import Life, run
from services.backbone.settings import read_settings

_HELP: Final = """Runs every watch of ALDEBARAN_AUDITOR_WATCHES until SIGTERM, and takes changes of
its files while it runs. `check FILE ...` holds watch files against Spark, and runs nothing.
`rehearse` tries a watch over recent events and tells nobody; services.rehearsal calls it."""
_WHY_JAVA_ENDS: Final = (
    "its last lines say why; where memory was short, give it more by ALDEBARAN_AUDITOR_HEAP"
)

log = logger(__name__)


def main(arguments: Sequence[str]) -> int:
    """Read the settings, run until SIGTERM or check files, return the exit code."""
    parser = argparse.ArgumentParser(prog="auditor", description=_HELP)
    commands = parser.add_subparsers(dest="command")
    checks = commands.add_parser("check", help="say whether watch files could run")
    checks.add_argument("files", nargs="+", type=Path, metavar="FILE")
    add_rehearse(commands.add_parser("rehearse", help="try a watch over recent events"))
    chosen = parser.parse_args(arguments)
    settings = read_settings(AuditorSettings)
    if chosen.command == "rehearse":
        errand = Errand(
            chosen.question, chosen.answer, chosen.records, chosen.seconds, chosen.niceness
        )
        return carry_out(settings, errand)
    if chosen.command == "check":
        return check(settings, chosen.files)
    return run("auditor", settings, partial(audit, settings))


def add_rehearse(parser: argparse.ArgumentParser) -> None:
    """Add what a rehearsal is told."""
    parser.add_argument("--question", type=Path, required=True, help="file of JSON to read")
    parser.add_argument("--answer", type=Path, required=True, help="file of JSON to write")
    parser.add_argument("--records", type=int, required=True, help="most records to read")
    parser.add_argument("--seconds", type=float, required=True, help="most time of a version")
    parser.add_argument("--niceness", type=int, required=True, help="how far to step back")


def audit(settings: AuditorSettings, life: Life) -> None:
    """Start every watch and keep it running until `life.stop` is set.

    Raises:
        Refused: something cannot work until a person changes it.
        Transient: the brokers do not answer, or every watch failed too often.
        Ended: Java has ended, or a query cannot be stopped: a new process can go on.
    """
    opened = read_opening(settings)
    spark = open_session(settings)
    try:
        _audit(Scene(spark, settings, life.clock), life, opened)
    except BROKEN_OFF as error:
        if not has_ended(spark):
            raise
        raise Ended(f"Java has ended ({first_line(error)}): {_WHY_JAVA_ENDS}") from None
    finally:
        with suppress(*BROKEN_OFF):
            spark.stop()


def _audit(scene: Scene, life: Life, opened: Opening) -> None:
    spark, store = scene.spark, scene.settings.auditor_store
    if store:
        check_reach(spark, "checkpoints", store)
    if life.stop.is_set():
        return
    fleet = open_fleet(scene, partial(prepare, scene), opened)
    try:
        watch_until_stop(scene, life, opened, fleet)
    finally:
        # Without Java there is nothing to end, and what it ended with counts.
        with suppress(*BROKEN_OFF):
            quieten(spark)
            fleet.stop()
    log.info("drained", watches=len(fleet.running), spark=spark.version)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
