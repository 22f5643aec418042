"""`python -m services.rehearsal`: tries watches for people; runs where Spark is installed."""

import argparse
import sys
from collections.abc import Sequence
from functools import partial

from services.backbone import service
from services.backbone.settings import read_settings
from services.rehearsal.program import rehearse
from services.rehearsal.settings import RehearsalSettings


def main(arguments: Sequence[str]) -> int:
    """Run until SIGTERM; return the exit code."""
    argparse.ArgumentParser("python -m services.rehearsal", description=__doc__).parse_args(
        arguments
    )
    settings = read_settings(RehearsalSettings)
    return service.run("rehearsal", settings, partial(rehearse, settings))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
