"""Exact counts of what arrived, per delivery id, kept in a journal that survives a restart.

A journal that has become long is set aside as `received.jsonl.1`, in the place of the one before.
"""

import threading
from collections import Counter
from collections.abc import Iterable
from io import FileIO
from pathlib import Path
from typing import Annotated, Any, Final

import orjson
from pydantic import BaseModel, ConfigDict, Field

from services.simulator.inbox.faults import Verdict

IDS_LIMIT: Final = 1_000_000
JOURNAL_LIMIT_BYTES: Final = 256 * 1024 * 1024

Way = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,30}$")]
"""The name of one way in: mail, or a provider's."""


class Arrival(BaseModel):
    """One message that came all the way in, whether it was answered, kept or refused."""

    model_config = ConfigDict(frozen=True)

    way: Way
    delivery_id: Annotated[str, Field(max_length=1000)]
    verdict: Verdict
    at_ms: int
    place: str = ""
    body: str = ""
    headers: dict[str, str] = {}


class WayCounts(BaseModel):
    """Counts of one way in; `ids` counts kept messages per id, `repeats` those with more than one.

    `ids_complete` is false once there were more ids than are counted one by one.
    """

    accepted: int = 0
    dropped: int = 0
    refused: int = 0
    ids: dict[str, int] = {}
    repeats: dict[str, int] = {}
    ids_complete: bool = True


class Received:
    """The counts; safe to use from any thread once they are open.

    A restart counts what both journals have: the newest, and at least `limit_bytes` of it.
    """

    def __init__(
        self, journal: Path, ways: Iterable[str], limit_bytes: int = JOURNAL_LIMIT_BYTES
    ) -> None:
        self._journal = journal
        self._aside = journal.with_name(f"{journal.name}.1")
        self._limit_bytes = limit_bytes
        self._lock = threading.Lock()
        self._verdicts: Counter[tuple[str, Verdict]] = Counter()
        self._ids: dict[str, Counter[str]] = {way: Counter() for way in ways}
        self._incomplete: set[str] = set()
        self._file: FileIO | None = None

    @property
    def is_open(self) -> bool:
        """Whether all that came before is counted."""
        return self._file is not None

    def open(self) -> None:
        """Count what came before, which may be much, and be ready for more."""
        self._journal.parent.mkdir(parents=True, exist_ok=True)
        self._replay(self._aside)
        self._replay(self._journal)
        self._file = self._journal.open("ab", buffering=0)

    def add(self, arrival: Arrival) -> None:
        """Count an arrival and write it down before anybody gets an answer.

        Raises:
            OSError: the disk does not take it, so it does not count either.
        """
        line = arrival.model_dump_json().encode() + b"\n"
        with self._lock:
            assert self._file is not None, "opened before anybody is served"  # noqa: S101 - our own order
            if self._file.tell() >= self._limit_bytes:
                self._file = self._begun_anew(self._file)
            _append(self._file, line)
            self._count(arrival)

    def counts(self) -> dict[str, WayCounts]:
        """Return the counts of every way in."""
        with self._lock:
            return {way: self._way(way) for way in self._ids}

    def close(self) -> None:
        """Close the journal."""
        if self._file is not None:
            self._file.close()

    def _begun_anew(self, full: FileIO) -> FileIO:
        """Return the next journal; the full one stays in use where the disk has no room for it."""
        beside = self._journal.with_name(f"{self._journal.name}.new")
        empty = beside.open("wb", buffering=0)
        self._journal.replace(self._aside)
        beside.replace(self._journal)
        full.close()
        return empty

    def _way(self, way: str) -> WayCounts:
        ids = self._ids[way]
        return WayCounts(
            accepted=self._verdicts[way, Verdict.ACCEPTED],
            dropped=self._verdicts[way, Verdict.DROPPED],
            refused=self._verdicts[way, Verdict.REFUSED],
            ids=dict(ids),
            repeats={each: count for each, count in ids.items() if count > 1},
            ids_complete=way not in self._incomplete,
        )

    def _count(self, arrival: Arrival) -> None:
        self._verdicts[arrival.way, arrival.verdict] += 1
        ids = self._ids.setdefault(arrival.way, Counter())
        if arrival.verdict is Verdict.REFUSED:
            return
        if arrival.delivery_id in ids or len(ids) < IDS_LIMIT:
            ids[arrival.delivery_id] += 1
        else:
            self._incomplete.add(arrival.way)

    def _replay(self, journal: Path) -> None:
        """Count what an earlier process wrote; cut off a last line that it did not finish."""
        if not journal.exists():
            return
        good = 0
        with journal.open("rb") as lines:
            for line in lines:
                if not line.endswith(b"\n"):
                    break
                self._count(Arrival.model_validate(_parsed(line)))
                good += len(line)
        with journal.open("rb+") as file:
            file.truncate(good)


def _append(file: FileIO, line: bytes) -> None:
    """Write all of a line, or nothing: a part of it would spoil the next one too."""
    end = file.tell()
    left = memoryview(line)
    try:
        while left:
            left = left[file.write(left) :]
    except OSError:
        file.truncate(end)
        file.seek(end)
        raise


def _parsed(line: bytes) -> Any:
    return orjson.loads(line)
