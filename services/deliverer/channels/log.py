"""Log, for trying out: one JSON line per delivery, on standard output or at the end of a file.

A disk that is full in the middle of a line leaves a part of it: what comes next begins a new line.
After a flush has failed the system may take for written what is not, and let a later flush pass. So
a line that is found as evidence is written once more, over itself, and flushed before it counts.
"""

import asyncio
import json
import os
import stat
import sys
from pathlib import Path
from typing import Final

from services.backbone.clock import Clock
from services.backbone.settings import Settings, read_settings
from services.contracts.recipients import complaint
from services.contracts.records import Severity
from services.deliverer.channel import (
    Doubt,
    Finding,
    Message,
    Promise,
    SendWindow,
    Taken,
    Traits,
    Unclear,
)
from services.deliverer.outcomes import Accepted, Outcome, Permanent, Refused, Unknown

PROMISE: Final = Promise(
    recipient="any text",
    our_id="field `delivery_id`",
    taken_when="the line is on the disk (file), or the reader's pipe has it (standard output)",
    not_taken="the file cannot be opened, or nothing could be written",
    permanent="a recipient with control characters",
    in_doubt="killed during the write, disk full in the middle of a line, flush failed",
    evidence="a whole line with the id in the file, flushed again",
    without_faults="one line",
    after_doubt="at most one more line, marked",
    not_promised="that anybody reads it; what a rotated file or a pipe's reader does",
)


class LogSettings(Settings):
    """Where the lines go."""

    log_channel_file: Path | None = None
    """A file to append to; without it, standard output."""


class LogChannel:
    """Writes each delivery as one line."""

    def __init__(self, settings: LogSettings, clock: Clock) -> None:
        self._file = settings.log_channel_file
        self._clock = clock
        self._one_at_a_time = asyncio.Lock()
        self.traits = Traits(
            name="log",
            promise=PROMISE,
            dedupes_by_key=False,
            repeats=frozenset(Severity),
            send_timeout_seconds=10.0,
            look_up_after_seconds=(0.0,) if self._file else (),
        )

    async def send(self, message: Message, window: SendWindow) -> Outcome:
        """Write one line."""
        if wrong := complaint("log", message.delivery.recipient):
            return Permanent(wrong)
        line = worded(message, self._clock.now_ms())
        async with self._one_at_a_time:  # so that the writing thread starts at once
            try:
                target = self._opened()
            except OSError as error:
                return Refused(f"cannot write: {error}", destination_down=True)
            window.open()
            return await asyncio.to_thread(_written, target, line, self._file)

    async def look_up(self, doubt: Doubt) -> Finding:
        """Search the file; a line that is not there may stand in a rotated one."""
        try:
            found = self._file is not None and await asyncio.to_thread(
                _kept, self._file, doubt.delivery.delivery_id
            )
        except OSError as error:
            return Unclear(f"the file cannot be read and flushed: {error}")
        return Taken(detail=f"stands in {self._file}") if found else Unclear("not in the file")

    def unusable(self) -> str | None:
        """Return None: a file is opened anew for each line."""
        return None

    async def close(self) -> None:
        """Nothing is kept open."""

    def _opened(self) -> int:
        if self._file is None:
            return os.dup(sys.stdout.fileno())
        return os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o640)


def worded(message: Message, at_ms: int) -> bytes:
    """Return the line: the delivery's record with the try's number, mark and time."""
    record = message.worded.model_dump(mode="json")
    about = {
        "attempt": message.attempt,
        "possible_repeat": message.marked_repeat,
        "written_at_ms": at_ms,
    }
    return json.dumps(about | record).encode() + b"\n"


def _written(target: int, line: bytes, file: Path | None) -> Outcome:
    """Write the line and close; a file is flushed to the disk."""
    written = 0
    try:
        about = os.fstat(target)
        is_file = stat.S_ISREG(about.st_mode)
        if is_file and file and _ends_in_a_part(file, about.st_size):
            line = b"\n" + line
        while written < len(line):
            written += os.write(target, line[written:])
        if is_file:
            os.fsync(target)
    except OSError as error:
        if written:
            return Unknown(f"written in part, or not flushed: {error}")
        return Refused(f"cannot write: {error}", destination_down=True)
    finally:
        os.close(target)
    return Accepted()


def _ends_in_a_part(file: Path, size: int) -> bool:
    """Tell whether the last line of a file of this size has no end."""
    if not size:
        return False
    with file.open("rb") as lines:
        lines.seek(size - 1)
        return lines.read(1) != b"\n"


def _kept(file: Path, delivery_id: str) -> bool:
    """Tell whether a whole line of the delivery is in the file; it is on the disk then."""
    with file.open("r+b") as lines:
        for line in lines:
            if _is_of(line, delivery_id):
                lines.seek(-len(line), os.SEEK_CUR)
                lines.write(line)
                lines.flush()
                os.fsync(lines.fileno())
                return True
    return False


def _is_of(line: bytes, delivery_id: str) -> bool:
    """Tell whether this is a delivery's own line, not a part of it nor one that names its id."""
    if delivery_id.encode() not in line or not line.endswith(b"\n"):
        return False
    try:
        read = json.loads(line)
    except ValueError:
        return False
    return isinstance(read, dict) and read.get("delivery_id") == delivery_id


def open_channel(clock: Clock) -> LogChannel:
    """Read the settings and make the channel."""
    return LogChannel(read_settings(LogSettings), clock)
