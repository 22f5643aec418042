"""`python -m services.console`: the page to look and to act, and its JSON API."""

import argparse
import sys
from collections.abc import Sequence
from typing import Final

from services.backbone.errors import Refused
from services.backbone.settings import EXIT_BAD_SETTINGS, read_settings
from services.console import users_line
from services.console.program import run
from services.console.settings import ConsoleSettings

_HELP: Final = """Shows how everything stands at http://127.0.0.1:<port>/, kept up to date, and lets
people act; the same as JSON under /v1, which /openapi.json describes. docs/console.md has all
settings."""


def main(arguments: Sequence[str]) -> int:
    """Run until SIGTERM, or carry out a command; return the exit code."""
    parser = argparse.ArgumentParser("python -m services.console", description=_HELP)
    users_line.add_commands(parser.add_subparsers(dest="command"))
    chosen = parser.parse_args(arguments)
    settings = read_settings(ConsoleSettings)
    if chosen.command == "user":
        return users_line.answer(chosen, settings, sys.stdout)
    try:
        return run(settings)
    except Refused as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_BAD_SETTINGS


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
