"""`check` and `explain`: what one can ask of a routes file; only `--deployed` asks a server."""

import argparse
import sys
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from services.backbone.clock import Clock
from services.backbone.errors import Trouble
from services.backbone.ledger.database import pool_of_command
from services.backbone.ledger.deliveries.names import known_names
from services.backbone.lines import tell_text
from services.contracts.declarations import BadDeclaration
from services.contracts.records import Alert, Malformed
from services.lookout.decisions.explaining import askable, explain
from services.lookout.routes.lint import Surroundings, lint
from services.lookout.routes.reading import Reading
from services.lookout.routes.source import RoutesSource
from services.lookout.routes.watches_folder import WatchesFolder
from services.lookout.settings import LookoutSettings

NAMES: Final = ("check", "explain")

Commands = argparse._SubParsersAction  # noqa: SLF001 - argparse gives it no public name


def add_commands(commands: "Commands[argparse.ArgumentParser]") -> None:
    """Add the commands about a routes file."""
    check = commands.add_parser("check", help="say whether a routes file can be used")
    check.add_argument("--strict", action="store_true", help="take warnings for errors")
    check.add_argument(
        "--deployed", action="store_true", help="ask the ledger which names its deliverers know"
    )
    explained = commands.add_parser("explain", help="say who would be told of an alert, and why")
    explained.add_argument("--at", type=_moment, help="for example 2026-11-21T23:00:00+01:00")
    for command in (check, explained):
        command.add_argument("file", type=Path, help="the routes file")
    explained.add_argument("alert", type=Path, help="the alert's JSON, as on topic alerts")


def answer(asked: argparse.Namespace, settings: LookoutSettings, clock: Clock) -> int:
    """Carry out one command; return the exit code."""
    reading = Reading(settings.channels, settings.routes_variables)
    now = datetime.fromtimestamp(clock.now_ms() / 1000, UTC)
    try:
        if asked.command == "check":
            return _check(asked, reading, settings, now)
        alert = Alert.decode(asked.alert.read_bytes())
        told = explain(reading.load(RoutesSource(asked.file)), alert, asked.at or now)
    except (Trouble, Malformed, BadDeclaration, OSError) as error:
        tell_text(sys.stderr, str(error))
        return 1
    tell_text(sys.stdout, told)
    return 0


def _check(
    asked: argparse.Namespace, reading: Reading, settings: LookoutSettings, now: datetime
) -> int:
    checked = reading.checked(RoutesSource(asked.file))
    folder = WatchesFolder(settings.watches_dir, are_all=settings.names_watches)
    watches = folder.read() if settings.names_watches else folder.known()
    names = _deployed_names(settings) if asked.deployed else {}
    around = Surroundings(now, settings.routes_variables, watches, names)
    warnings = lint(checked, around)
    for each in warnings:
        sys.stdout.write(f"{asked.file.name}:{each.line}: warning: {each.reason}\n")
    if warnings and asked.strict:
        return 1
    sys.stdout.write("OK\n")
    return 0


def _deployed_names(settings: LookoutSettings) -> Mapping[str, Collection[str]]:
    with pool_of_command(settings) as pool:
        return known_names(pool)


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise argparse.ArgumentTypeError(f"{text} has no zone: write Z or +01:00 behind it")
    try:
        return askable(moment)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
