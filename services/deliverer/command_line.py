"""`held`, `resend`, `close`, `arrived`: what a person does with deliveries that wait for one."""

import argparse
import getpass
import sys
from collections.abc import Sequence

from services.backbone.errors import Trouble
from services.backbone.ledger.words import Waiting, Word, give, waiting
from services.backbone.settings import read_settings
from services.deliverer.settings import DelivererSettings

HELP = """Without a command: deliver the channel named by ALDEBARAN_CHANNEL until told to stop."""


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line; `command` is None if there is none."""
    top = argparse.ArgumentParser("python -m services.deliverer", description=HELP)
    commands = top.add_subparsers(dest="command")
    commands.add_parser("held", help="list the channel's HELD, FAILED and IN_DOUBT deliveries")
    for name, text in (
        ("resend", "send once more; with the repeat mark if a try may have been taken"),
        ("close", "do nothing more about it"),
        ("arrived", "the recipient has it: it counts as sent, and is not repeated"),
        ("absent", "the recipient does not have it: it is sent again, without the mark"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("delivery_id")
        command.add_argument("--why", required=True, help="kept with your name")
        command.add_argument("--who", default=getpass.getuser(), help="default: your user's name")
    return top.parse_args(arguments)


def answer(arguments: argparse.Namespace) -> int:
    """Carry out one command; return the exit code."""
    settings = read_settings(DelivererSettings)
    try:
        if arguments.command == "held":
            rows = waiting(settings, settings.channel)
            sys.stdout.write("".join(_line(row) for row in rows) or "none\n")
        else:
            word = Word(
                arguments.delivery_id, arguments.command, arguments.who[:100], arguments.why[:400]
            )
            give(settings, word)
            sys.stdout.write("done\n")
    except Trouble as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _line(row: Waiting) -> str:
    age = f"{row.age_seconds / 3600:.1f} h"
    start = f"{row.delivery_id} {row.state:8} {age:>8} tries {row.attempt}"
    return f"{start} {row.recipient}: {row.reason}\n"
