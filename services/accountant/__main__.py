"""`python -m services.accountant`: account all the time; `once`: print the account and end."""

import argparse
import sys
from collections.abc import Sequence

from services.accountant.program import PROGRAM, run_accountant
from services.accountant.report import once
from services.accountant.settings import AccountantSettings
from services.backbone import service
from services.backbone.settings import read_settings


def main(arguments: Sequence[str]) -> int:
    """Run until told to stop, or print one account; return the exit code."""
    parser = argparse.ArgumentParser("python -m services.accountant", description=__doc__)
    parser.add_argument(
        "command", nargs="?", choices=["once"], help="print the account; exit 1 if all is not well"
    )
    parsed = parser.parse_args(arguments)
    settings = read_settings(AccountantSettings)
    if parsed.command == "once":
        return once(settings)
    return service.run(PROGRAM, settings, lambda life: run_accountant(settings, life))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
