"""What `make bench BENCH="..."` can be told."""

import argparse
import shlex
import sys
from pathlib import Path

from tests.bench.delivering.far_ends import FAR_ENDS
from tests.bench.engine import ROOT
from tests.bench.engines import ENGINES

DEFAULT_SECTIONS = (
    "latency",
    "drain",
    "loops",
    "gateway",
    "claims",
    "first_bytes",
    "storm",
    "whole_way",
)
SECTIONS = (*DEFAULT_SECTIONS, "profile", "variants", "slope", "books")
ASIDE = frozenset({"--at-most-minutes", "--note"})
"""Arguments with a value that change nothing of what is measured."""
LATENCY_ROWS = ("pair", "flink-heap")
NEVER_ENDING_SECONDS = 60.0
"""Batches of this length hardly ever end while a backlog is drained."""
DRAIN_ROWS = ("single", "flink-heap", "flink-rocksdb", "consumer", "pass-through")


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measures.")
    parser.add_argument("--sections", nargs="*", choices=SECTIONS, default=list(DEFAULT_SECTIONS))
    parser.add_argument("--rows", nargs="*", choices=ENGINES, default=None, help="engines")
    parser.add_argument("--quick", action="store_true", help="short and rough: to try the bench")
    parser.add_argument("--report", type=Path, default=ROOT / "docs" / "reports")
    parser.add_argument(
        "--resume", action="store_true", help="keep the visits that this command has made"
    )
    parser.add_argument("--note", default="", help="what else was going on, for the report")
    parser.add_argument(
        "--at-most-minutes", type=float, default=1e6, help="begin no visit after so long"
    )
    _watching(parser)
    _delivering(parser)
    told = parser.parse_args()
    if told.quick:
        told.seconds, told.warm_up, told.visits, told.backlog = 10.0, 5.0, 1, 200_000
        told.waiting, told.first_byte_seconds, told.storm = [20_000], 10.0, 20_000
        told.alerts, told.whole_way_seconds = [10], 10.0
    told.latency_rows = told.rows or list(LATENCY_ROWS)
    told.drain_rows = told.rows or list(DRAIN_ROWS)
    return told


def _watching(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rates", type=int, nargs="*", default=[1000, 10_000])
    parser.add_argument("--seconds", type=float, default=50, help="measured at each rate")
    parser.add_argument("--warm-up", type=float, default=30, help="at the highest rate")
    parser.add_argument("--probes", type=float, default=100, help="probes per second")
    parser.add_argument("--visits", type=int, default=2, help="to each engine, there and back")
    parser.add_argument("--batch-seconds", type=float, default=10)
    parser.add_argument(
        "--drain-batch-seconds",
        type=float,
        default=NEVER_ENDING_SECONDS,
        help="of drain, variants and slope; Flink's checkpoints are as far apart",
    )
    parser.add_argument("--backlog", type=int, default=1_000_000)
    parser.add_argument("--partitions", type=int, nargs="*", default=[1, 2, 4], help="of slope")
    parser.add_argument("--books", type=int, nargs="*", default=[10_000, 1_000_000])
    parser.add_argument("--variants", nargs="*", help="names in tests/bench/variants")
    parser.add_argument("--steps", action="store_true", help="also drain by parts of the rule")


def _delivering(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--waiting", type=int, nargs="*", default=[100_000, 1_000_000], help="when claiming"
    )
    parser.add_argument("--first-byte-seconds", type=float, default=60)
    parser.add_argument("--channels", nargs="*", choices=FAR_ENDS, default=list(FAR_ENDS))
    parser.add_argument(
        "--programs-each",
        type=int,
        nargs="*",
        choices=(1, 2),
        default=[2],
        help="lookouts and deliverers, with their mirrors or without; a storm takes the most",
    )
    parser.add_argument(
        "--alerts", type=float, nargs="*", default=[5, 50], help="a second, of whole_way"
    )
    parser.add_argument("--whole-way-seconds", type=float, default=120)
    parser.add_argument("--storm", type=int, default=60_000, help="alerts of the storm")


def command() -> str:
    """Return the command that makes this run again, in one go."""
    told = iter(sys.argv[1:])
    kept = [each for each in told if each != "--resume" and not (each in ASIDE and next(told))]
    return f'make bench BENCH="{shlex.join(kept)}"' if kept else "make bench"
