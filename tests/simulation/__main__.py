"""`python -m tests.simulation`: `fuzz` without end, `replay SEED`, `run` some, or `report`."""

import argparse
import sys
from collections.abc import Sequence

from tests.simulation import fuzzing, reporting


def main(arguments: Sequence[str]) -> int:
    """Do what the command line asks; return 1 if a promise was broken."""
    parser = argparse.ArgumentParser("python -m tests.simulation", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    replay = commands.add_parser("replay", help="one seed again, shrunk and told")
    replay.add_argument("seed", type=int)
    fuzz = commands.add_parser("fuzz", help="random seeds until Ctrl-C or a failure")
    fuzz.add_argument("--processes", type=int, default=2)
    run = commands.add_parser("run", help="a range of seeds")
    run.add_argument("--base", type=int, default=0)
    run.add_argument("--count", type=int, default=1000)
    run.add_argument("--mutant", help="a known bug to plant (mutants.py)")
    report = commands.add_parser("report", help="write docs/reports/simulation.md")
    report.add_argument("--count", type=int, default=20_000)
    asked = parser.parse_args(arguments)
    say = fuzzing.write
    if asked.command == "replay":
        return fuzzing.replay(asked.seed, say)
    if asked.command == "fuzz":
        return fuzzing.fuzz(asked.processes, say)
    if asked.command == "report":
        reporting.REPORT.write_text(reporting.report(asked.count))
        return 0
    return fuzzing.run(asked.base, asked.count, say, asked.mutant)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
