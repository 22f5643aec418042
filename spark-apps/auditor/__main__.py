"""`python -m auditor`: runs every watch of a folder; `python -m auditor check FILE` tries one."""

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from auditor.check import check
from auditor.job import Scene
from auditor.session import open_session
from auditor.settings import AuditorSettings
from auditor.watching import READY, open_fleet, read_opening, watch_until_stop
from engine.session import quieten
from services.backbone.log import logger
from services.backbone.service import Life, run
from services.backbone.settings import read_settings

_HELP: Final = """Runs every watch of ALDEBARAN_AUDITOR_WATCHES until SIGTERM, and takes changes of
its files while it runs. `check FILE ...` holds watch files against Spark, and runs nothing."""

log = logger(__name__)


def main(arguments: Sequence[str]) -> int:
    """Read the settings, run until SIGTERM or check files, return the exit code."""
    parser = argparse.ArgumentParser(prog="auditor", description=_HELP)
    commands = parser.add_subparsers(dest="command")
    checks = commands.add_parser("check", help="say whether watch files could run")
    checks.add_argument("files", nargs="+", type=Path, metavar="FILE")
    chosen = parser.parse_args(arguments)
    settings = read_settings(AuditorSettings)
    if chosen.command == "check":
        return check(settings, chosen.files)
    return run("auditor", settings, partial(audit, settings))


def audit(settings: AuditorSettings, life: Life) -> None:
    """Start every watch and keep it running until `life.stop` is set.

    Raises:
        Refused: something cannot work until a person changes it.
        Transient: the brokers do not answer, or every watch failed too often.
    """
    opened = read_opening(settings)
    life.health.add_ready(READY, lambda: "the watches are being prepared")
    spark = open_session(settings)
    try:
        scene = Scene(spark, settings, life.clock)
        if life.stop.is_set():
            return
        fleet = open_fleet(scene, opened)
        try:
            watch_until_stop(scene, life, opened, fleet)
        finally:
            quieten(spark)
            fleet.stop()
        log.info("drained", watches=len(fleet.running), spark=spark.version)
    finally:
        spark.stop()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
