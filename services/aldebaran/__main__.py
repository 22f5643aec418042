"""`python -m services.aldebaran`: the command line for people on duty."""

import argparse
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Final, TextIO

from services.aldebaran import (
    alerts,
    deliveries,
    refused,
    rehearsals,
    routes,
    silences,
    traces,
    unjudged,
    watches,
)
from services.aldebaran.client import CommandSettings, console_client
from services.aldebaran.completion import SHELLS, script
from services.backbone.clock import Clock, SystemClock
from services.backbone.errors import Trouble
from services.backbone.lines import tell_text
from services.backbone.settings import read_settings
from services.backbone.web.client import ApiClient

_HELP: Final = """Asks a running console: ALDEBARAN_CONSOLE_URL (http://127.0.0.1:18080) and
ALDEBARAN_OPERATOR_KEY, which `python -m services.lookout keygen NAME` makes. Completion:
source <(python -m services.aldebaran completion bash), or zsh"""
EXIT_INTERRUPTED: Final = 130

Asking = Callable[[argparse.Namespace, ApiClient, TextIO], int]
_ASKING: Final[dict[str, Asking]] = {
    "why": alerts.why,
    "ack": alerts.acknowledge,
    "todo": deliveries.todo,
    "say": deliveries.say,
    "silence": silences.silence,
    "send-test": silences.send_test,
    "who": routes.who,
    "rejected": refused.rejected,
    "unjudged": unjudged.unjudged,
    "traces": lambda _, client, out: traces.traces(client, out),
}


def parser() -> argparse.ArgumentParser:
    """Return what reads the command line."""
    made = argparse.ArgumentParser("aldebaran", description=_HELP)
    commands = made.add_subparsers(dest="command", required=True)
    subjects = (alerts, deliveries, silences, routes, traces, refused, unjudged, watches)
    for subject in subjects:
        subject.add_commands(commands)
    completion = commands.add_parser("completion", help="a script for your shell")
    completion.add_argument("shell", choices=SHELLS)
    return made


def carry_out(chosen: argparse.Namespace, client: ApiClient, clock: Clock, out: TextIO) -> int:
    """Carry out a command of the API.

    Raises:
        Trouble: the console does not do it, or does not answer.
    """
    if chosen.command == "alerts":
        return alerts.alerts(chosen, client, clock, out)
    if chosen.command == "trace":
        return traces.trace(chosen, client, clock, out)
    if chosen.command == "watch" and chosen.action == "list":
        return watches.list_all(chosen, client, out)
    if chosen.command == "watch":
        return rehearsals.try_watch(chosen, client, clock, out)
    return _ASKING[chosen.command](chosen, client, out)


def main(arguments: Sequence[str]) -> int:
    """Carry out one command; return the exit code."""
    own = parser()
    chosen = own.parse_args(arguments)
    if chosen.command == "completion":
        sys.stdout.write(script(own, sys.executable, chosen.shell))
        return 0
    try:
        if chosen.command == "watch" and chosen.action == "check":
            return watches.check(chosen, sys.stdout)
        client = console_client(read_settings(CommandSettings))
        try:
            return carry_out(chosen, client, SystemClock(), sys.stdout)
        finally:
            client.close()
    except Trouble as error:
        tell_text(sys.stderr, str(error))
        return 1
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main(sys.argv[1:]))
