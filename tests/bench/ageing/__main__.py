"""`python -m tests.bench.ageing`: reads the last two days of archives of every age, in two ways."""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame, SparkSession

from archivist.earlier import take_over
from archivist.session import open_session
from archivist.settings import ArchivistSettings
from archivist.shelf import archive_ddl, stored
from engine.java import jvm_of
from services.machine.installation import setup
from tests.bench.ageing.made import LAST_DAY, make
from tests.unit.auditor.batches import TRADES

LAST_DAYS: Final = [LAST_DAY - timedelta(days=1), LAST_DAY]
MEBIBYTE: Final = 1024 * 1024
HEAD: Final = ("days", "way", "rows", "heap that stays (MiB)", "seconds")


def by_log(spark: SparkSession, folder: str) -> DataFrame:
    """Read as versions before did: Spark takes the files from its log, and then the days."""
    rows = spark.read.schema(archive_ddl(TRADES)).parquet(folder)
    return rows.where(rows["date"].isin(LAST_DAYS))


def by_days(spark: SparkSession, folder: str) -> DataFrame:
    """Read as accounts do."""
    return stored(spark, folder, TRADES, LAST_DAYS)


def taken_over(spark: SparkSession, folder: str) -> DataFrame:
    """Take the archive over from the version before, and read it."""
    take_over(spark, folder)
    return stored(spark, folder, TRADES, LAST_DAYS)


WAYS: Final = {"log": by_log, "days": by_days, "taken over": taken_over}


def heap_bytes(spark: SparkSession) -> int:
    """Return what is left in the heap after it was collected."""
    jvm = jvm_of(spark)
    jvm.java.lang.System.gc()
    runtime = jvm.java.lang.Runtime.getRuntime()
    return int(runtime.totalMemory() - runtime.freeMemory())


def read(days: int, way: str, folder: str, heap: str) -> None:
    """Read in one way and print a line; a heap that is too small ends the process."""
    spark = _session(heap)
    before, begun = heap_bytes(spark), time.monotonic()
    rows = WAYS[way](spark, folder)
    count = rows.count()
    seconds = time.monotonic() - begun
    kept = (heap_bytes(spark) - before) / MEBIBYTE
    _say(days, way, count, f"{kept:.0f}", f"{seconds:.1f}")
    spark.stop()


def _session(heap: str) -> SparkSession:
    jars = setup.jars_folder(Path(os.environ.get("ALDEBARAN_TOOLS", ".tools")), "spark")
    return open_session(ArchivistSettings(archivist_heap=heap, archivist_jars=jars))


def measure(days: int, heap: str) -> None:
    """Make an archive and read it in each way, each in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="aldebaran-ageing-") as folder:
        _alone("--make", folder, "--days", str(days), "--heap", heap)
        for way in WAYS:
            if _alone("--read", folder, "--days", str(days), "--way", way, "--heap", heap):
                _say(days, way, "-", f"more than {heap}", "-")


def _alone(*arguments: str) -> int:
    command = [sys.executable, "-m", "tests.bench.ageing", *arguments]
    return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode


def _say(*cells: object) -> None:
    sys.stdout.write(f"| {' | '.join(map(str, cells))} |\n")
    sys.stdout.flush()


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.ageing", description=__doc__)
    parser.add_argument("--days", type=int, nargs="+", default=[2, 90, 180, 365])
    parser.add_argument("--heap", default="512m", help="Java's heap, for example 2g")
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--read", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.make:
        make(_session(given.heap), given.make, given.days[0])
    elif given.read:
        read(given.days[0], given.way, given.read, given.heap)
    else:
        _say(*HEAD)
        _say(*("---" for _ in HEAD))
        for days in given.days:
            measure(days, given.heap)


if __name__ == "__main__":
    main()
