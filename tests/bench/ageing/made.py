"""An archive of many days, as the version before kept it, made of links to one file."""

import json
import os
import shutil
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession

from archivist.shelf import day_folder, shelved
from archivist.shelving import EARLIER_LOG
from engine.events import VALID
from services.contracts.fields import DATE
from tests.unit.archivist.histories import topic_records
from tests.unit.auditor.batches import TRADES, request

FILES_A_DAY: Final = 1440
"""One for each minute."""
LAST_DAY: Final = date(2026, 11, 24)
_EVENTS_A_FILE: Final = 20
_LINKS: Final = 50_000
"""A file system gives a file no more than about 65,000 names."""


def make(spark: SparkSession, folder: Path, days: int) -> None:
    """Make it: a file for each minute of these days, and a log that names them all."""
    original = _original(spark, folder / "_made")
    log = folder / EARLIER_LOG
    log.mkdir()
    numbers = range(days * FILES_A_DAY)
    with (log / f"{len(numbers) - 1}.compact").open("w") as lines:
        lines.write("v1")
        for number, file in enumerate(_links(original, folder, days)):
            if number % _LINKS == 0:
                original = Path(shutil.copy(original, original.with_name(f"copy-{number}")))
            os.link(original, file)
            lines.write(f"\n{_line(file, original.stat().st_size)}")


def _original(spark: SparkSession, folder: Path) -> Path:
    noon = datetime.combine(LAST_DAY, datetime.min.time(), UTC) + timedelta(hours=12)
    values = [
        (request(f"r{number}", 1).record()[0], noon + timedelta(seconds=number))
        for number in range(_EVENTS_A_FILE)
    ]
    rows = shelved(topic_records(spark, values), TRADES).where(VALID).drop(VALID, DATE)
    rows.coalesce(1).write.parquet(str(folder))
    return next(folder.glob("*.parquet"))


def _links(original: Path, folder: Path, days: int) -> Iterator[Path]:
    for age in reversed(range(days)):
        day = Path(day_folder(str(folder), LAST_DAY - timedelta(days=age)))
        day.mkdir()
        for minute in range(FILES_A_DAY):
            yield day / f"part-{minute:05d}-{original.stem[11:]}.parquet"


def _line(file: Path, size: int) -> str:
    """Return a line as Spark's file sink writes it."""
    status = {
        "path": f"file://{file.absolute()}",
        "size": size,
        "isDir": False,
        "modificationTime": 1_790_000_000_000,
        "blockReplication": 1,
        "blockSize": 33_554_432,
        "action": "add",
    }
    return json.dumps(status, separators=(",", ":"))
