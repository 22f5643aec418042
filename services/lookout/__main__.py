"""`python -m services.lookout`: run it, or give a command; `--help` lists them."""

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from services.backbone import service
from services.backbone.clock import SystemClock
from services.backbone.errors import Refused
from services.backbone.settings import EXIT_BAD_SETTINGS, read_settings
from services.contracts.records import Alert, Malformed
from services.lookout import operating
from services.lookout.api.app import create_app
from services.lookout.api.desk import Office
from services.lookout.api.operators import open_operators
from services.lookout.explaining import explain
from services.lookout.program import PROGRAM, run_lookout
from services.lookout.routes.reading import load_routes
from services.lookout.routing import Routes
from services.lookout.settings import LookoutSettings


def main(arguments: Sequence[str]) -> int:
    """Do what the command line asks; return the exit code."""
    settings = read_settings(LookoutSettings)
    asked = _parser().parse_args(arguments)
    if asked.command in operating.NAMES:
        return operating.answer(asked)
    if asked.command is None:
        return _run(settings)
    try:
        routes = load_routes(asked.file, settings.channels, settings.routes_variables)
        answer = "OK" if asked.command == "check" else _explained(routes, asked.alert)
    except (Refused, Malformed, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(answer + "\n")
    return 0


def _run(settings: LookoutSettings) -> int:
    try:
        operators = open_operators(settings.operator_keys_file, SystemClock())
    except Refused as error:
        sys.stderr.write(f"{PROGRAM} cannot start: {error}\n")
        return EXIT_BAD_SETTINGS
    office = Office()
    return service.run(
        PROGRAM,
        settings,
        lambda life: run_lookout(settings, life, office),
        lambda life: create_app(office, operators, life.health),
    )


def _explained(routes: Routes, alert: Path) -> str:
    now = datetime.fromtimestamp(SystemClock().now_ms() / 1000, UTC)
    return explain(routes, Alert.decode(alert.read_bytes()), now)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m services.lookout", description=__doc__)
    commands = parser.add_subparsers(dest="command")
    check = commands.add_parser("check", help="say whether a routes file can be used")
    explained = commands.add_parser("explain", help="say who would be told of an alert")
    for command in (check, explained):
        command.add_argument("file", type=Path, help="the routes file")
    operating.add_commands(commands)
    explained.add_argument("alert", type=Path, help="the alert's JSON, as on topic alerts")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
