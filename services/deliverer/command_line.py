"""`held`, `resend`, `close`, `arrived`: what a person does with deliveries that wait for one."""

import argparse
import sys
from collections.abc import Iterator, Sequence

from services.backbone.errors import Refused, Trouble
from services.backbone.ledger.operators.words import (
    ARRIVED,
    LIST_LIMIT,
    Waiting,
    Word,
    give,
    waiting,
)
from services.backbone.lines import tell, tell_text
from services.backbone.settings import read_settings
from services.backbone.user import own_name
from services.deliverer.settings import DelivererSettings
from services.deliverer.wiring import channel_names, no_channel

_TRY = "the one that held showed; no other is decided on"
HELP = """Without a command: deliver the channel named by ALDEBARAN_CHANNEL until told to stop."""


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line; `command` is None if there is none."""
    top = argparse.ArgumentParser("python -m services.deliverer", description=HELP)
    commands = top.add_subparsers(dest="command")
    commands.add_parser("held", help="list the channel's HELD, FAILED and IN_DOUBT deliveries")
    for name, text in (
        ("resend", "send once more; with the repeat mark if a try may have been taken"),
        ("close", "do nothing more about it"),
        (ARRIVED, "the recipient has it: it counts as sent, and is not repeated"),
        ("absent", "the recipient does not have it: it is sent again, without the mark"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("delivery_id")
        command.add_argument("--why", required=True, help="kept with your name")
        command.add_argument("--who", help="default: your user's name")
        command.set_defaults(attempt=None)
        if name != ARRIVED:  # That it arrived holds of whichever try.
            command.add_argument("--try", dest="attempt", type=int, help=_TRY)
    return top.parse_args(arguments)


def answer(arguments: argparse.Namespace) -> int:
    """Carry out one command; return the exit code."""
    settings = read_settings(DelivererSettings)
    try:
        if arguments.command == "held":
            for line in _held(waiting(settings, settings.channel), settings.channel):
                tell(sys.stdout, line)
        else:
            give(settings, _word(arguments))
            tell(sys.stdout, "done")
    except Trouble as error:
        tell_text(sys.stderr, str(error))
        return 1
    return 0


def _held(rows: Sequence[Waiting], channel: str) -> Iterator[str]:
    """A channel that was taken away may have left some, so its name is doubted only without any.

    Raises:
        Refused: nothing waits, and there is no such channel.
    """
    if not rows and channel not in channel_names():
        raise Refused(no_channel(channel))
    yield from map(_line, rows)
    if not rows:
        yield "none"
    if len(rows) == LIST_LIMIT:
        yield f"these are the newest {LIST_LIMIT}: settle them, and look again for older ones"


def _word(arguments: argparse.Namespace) -> Word:
    return Word(
        arguments.delivery_id,
        arguments.command,
        (arguments.who or own_name())[:100],
        arguments.why[:400],
        arguments.attempt,
    )


def _line(row: Waiting) -> str:
    age = f"{row.age_seconds / 3600:.1f} h"
    start = f"{row.delivery_id} {row.state:8} {age:>8} try {row.attempt}"
    return f"{start} {row.recipient}: {row.reason}"
