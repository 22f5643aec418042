"""`python -m services.lookout`: run it, or give a command; `--help` lists them."""

import argparse
import sys
from collections.abc import Sequence

from starlette.types import ASGIApp

from services.backbone import service
from services.backbone.clock import SystemClock
from services.backbone.errors import Refused
from services.backbone.service import Life
from services.backbone.settings import EXIT_BAD_SETTINGS, read_settings
from services.lookout.api.app import create_app
from services.lookout.api.desk import Office
from services.lookout.api.operators import open_operators
from services.lookout.commands import asking, inspecting, operating
from services.lookout.program import PROGRAM, run_lookout
from services.lookout.settings import LookoutSettings


def main(arguments: Sequence[str]) -> int:
    """Do what the command line asks; return the exit code."""
    settings = read_settings(LookoutSettings)
    asked = _parser().parse_args(arguments)
    if asked.command == asking.NAME:
        return asking.answer(asked, settings)
    if asked.command in operating.NAMES:
        return operating.answer(asked)
    if asked.command in inspecting.NAMES:
        return inspecting.answer(asked, settings, SystemClock())
    return _run(settings)


def _run(settings: LookoutSettings) -> int:
    try:
        operators = open_operators(settings.operator_keys_file, SystemClock())
    except Refused as error:
        sys.stderr.write(f"{PROGRAM} cannot start: {error}\n")
        return EXIT_BAD_SETTINGS
    office = Office()

    def app(life: Life) -> ASGIApp:
        life.health.add_note("keys", operators.note)
        return create_app(office, operators, life.health)

    return service.run(PROGRAM, settings, lambda life: run_lookout(settings, life, office), app)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m services.lookout", description=__doc__)
    commands = parser.add_subparsers(dest="command")
    inspecting.add_commands(commands)
    asking.add_command(commands)
    operating.add_commands(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
