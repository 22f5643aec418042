"""`python -m tests.simulation`: `fuzz` without end, `replay SEED`, or `run` some histories."""

import argparse
import sys
from collections.abc import Sequence

from tests.simulation import fuzzing


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
    asked = parser.parse_args(arguments)
    say = sys.stdout.write
    if asked.command == "replay":
        return fuzzing.replay(asked.seed, say)
    if asked.command == "fuzz":
        return fuzzing.fuzz(asked.processes, say)
    return fuzzing.run(asked.base, asked.count, say)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
