"""`python -m services.accountant`: account all the time; `once`: print the account and end;
`forgive`: say that what is missing will stay so; `forgiven`: who said that, and why.
"""

import argparse
import sys
from collections.abc import Sequence

from services.accountant.forgiving import FORGIVABLE, Word, forgive, forgiven
from services.accountant.program import PROGRAM, run_accountant
from services.accountant.report import once
from services.accountant.settings import AccountantSettings
from services.backbone import service
from services.backbone.settings import read_settings


def main(arguments: Sequence[str]) -> int:
    """Carry out one command; without one, run until told to stop. Return the exit code."""
    parser = _parser()
    parsed = parser.parse_args(arguments)
    settings = read_settings(AccountantSettings)
    match parsed.command:
        case "once":
            return once(settings)
        case "forgiven":
            return forgiven(settings)
        case "forgive":
            word = Word(parsed.by, parsed.reason)
            if wrong := _wrong(parsed, word):
                parser.error(wrong)
            return forgive(settings, parsed.subject, parsed.all or "", word)
        case _:
            return service.run(PROGRAM, settings, lambda life: run_accountant(settings, life))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m services.accountant", description=__doc__)
    commands = parser.add_subparsers(dest="command", metavar="command")
    commands.add_parser("once", help="print the account; exit 1 if all is not well")
    commands.add_parser("forgiven", help="list what was forgiven, the newest first")
    forgiving = commands.add_parser("forgive", help="end findings of what is missing for good")
    forgiving.add_argument(
        "subject", nargs="*", help="an alert or a delivery, as the message or `once` names it"
    )
    forgiving.add_argument("--all", choices=FORGIVABLE, help="every open finding of this kind")
    forgiving.add_argument("--by", required=True, help="who says so")
    forgiving.add_argument("--reason", required=True, help="why it will stay missing")
    return parser


def _wrong(parsed: argparse.Namespace, word: Word) -> str | None:
    if bool(parsed.subject) == bool(parsed.all):
        return "name what is missing, or one kind by --all"
    return word.complaint()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
