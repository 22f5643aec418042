"""Nagios' spool of check results: a file per result, and an empty one beside it that lets it go.

A file's name is made of the delivery's id. So one delivery is at most one file: written a second
time before Nagios has read it, it is still one result.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

from services.deliverer.channels.nagios.wording import Result

_LETTERS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_NAME_CHARACTERS: Final = 6
_LET_GO: Final = ".ok"
_DRAFT: Final = ".aldebaran-"
_READABLE: Final = 0o644
"""Nagios deletes a result that it may not read, and reads no further that time."""


class Standing(Enum):
    """What the spool holds under a delivery's name."""

    NOTHING = "nothing: not written, or read already"
    PREPARED = "written and not let go"
    WAITING = "waits until Nagios reads it"
    FOREIGN = "the name is taken by another result"


def file_name(delivery_id: str) -> str:
    """Return the name: `c` and six letters, as Nagios wants it."""
    number = int(delivery_id[:16], 16)
    letters = ""
    for _ in range(_NAME_CHARACTERS):
        number, letter = divmod(number, len(_LETTERS))
        letters += _LETTERS[letter]
    return "c" + letters


def content(result: Result, delivery_id: str) -> bytes:
    """Return the file of one result; the first line is a comment that tells whose it is."""
    service = result.place.service
    lines = [
        _owner(delivery_id),
        f"host_name={result.place.host}",
        *([] if service is None else [f"service_description={service}"]),
        "check_type=1",
        "check_options=0",
        "scheduled_check=0",
        "reschedule_check=0",
        "latency=0.0",
        f"start_time={result.at_seconds}.0",
        f"finish_time={result.at_seconds}.0",
        "early_timeout=0",
        "exited_ok=1",
        f"return_code={result.state}",
        f"output={result.text}",
    ]
    return "".join(f"{line}\n" for line in lines).encode()


@dataclass(frozen=True)
class Spool:
    """The folder that Nagios reads.

    Nagios deletes files unread whose time of change is older than its max_check_result_file_age.
    An alert must outlive an outage of Nagios, so files get a time of change `keep_seconds` ahead.
    """

    folder: Path
    keep_seconds: float

    def standing(self, delivery_id: str) -> Standing:
        """Look what is there for a delivery."""
        try:
            found = self._file(delivery_id).read_bytes()
        except FileNotFoundError:
            return Standing.NOTHING
        if not found.startswith(_owner(delivery_id).encode()):
            return Standing.FOREIGN
        return Standing.WAITING if self._sign(delivery_id).exists() else Standing.PREPARED

    def prepare(self, delivery_id: str, attempt: int, result: bytes, at_seconds: float) -> Standing:
        """Put a result into the spool, safe on the disk, and not yet let go.

        Returns:
            PREPARED; or WAITING or FOREIGN, if that was there already and was left alone.
        """
        with self._draft(delivery_id, attempt, result, at_seconds) as draft:
            try:
                os.link(draft, self._file(delivery_id))
            except FileExistsError:
                there = self.standing(delivery_id)
                if there in (Standing.WAITING, Standing.FOREIGN):
                    return there
                draft.replace(self._file(delivery_id))
        self.flush()
        return Standing.PREPARED

    def let_go(self, delivery_id: str) -> None:
        """Let Nagios read the result: one quick call, and from now on it counts as taken."""
        os.close(os.open(self._sign(delivery_id), os.O_WRONLY | os.O_CREAT, _READABLE))

    def flush(self) -> None:
        """Have the folder's names on the disk."""
        folder = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def oldest_waiting_at(self) -> float | None:
        """Return since when the oldest result waits, of whoever, in seconds since 1970.

        Nagios deletes a result before its go-ahead; killed in between, it never looks at that one.
        """
        since: list[float] = []
        with os.scandir(self.folder) as entries:
            for entry in entries:
                if not (entry.name.startswith("c") and entry.name.endswith(_LET_GO)):
                    continue
                with suppress(FileNotFoundError):
                    let_go_at = entry.stat().st_mtime
                    if os.path.exists(entry.path.removesuffix(_LET_GO)):
                        since.append(let_go_at)
        return min(since, default=None)

    def forget_drafts(self, before_seconds: float) -> None:
        """Remove drafts of tries that died so long ago, in seconds since 1970."""
        for draft in self.folder.glob(f"{_DRAFT}*"):
            with suppress(FileNotFoundError):
                if draft.stat().st_ctime < before_seconds:
                    draft.unlink()

    @contextmanager
    def _draft(
        self, delivery_id: str, attempt: int, result: bytes, at_seconds: float
    ) -> Iterator[Path]:
        draft = self.folder / f"{_DRAFT}{delivery_id}-{attempt}"
        try:
            with draft.open("wb") as file:
                file.write(result)
                file.flush()
                os.fchmod(file.fileno(), _READABLE)
                later = at_seconds + self.keep_seconds
                os.utime(file.fileno(), (later, later))
                os.fsync(file.fileno())
            yield draft
        finally:
            draft.unlink(missing_ok=True)

    def _file(self, delivery_id: str) -> Path:
        return self.folder / file_name(delivery_id)

    def _sign(self, delivery_id: str) -> Path:
        return self.folder / (file_name(delivery_id) + _LET_GO)


def _owner(delivery_id: str) -> str:
    return f"# Aldebaran delivery {delivery_id}"
