"""Nagios' command file: a FIFO that takes one command per line, whole or not at all."""

import os
import select
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Final

from services.deliverer.channels.nagios.wording import Result, cut
from services.deliverer.outcomes import Accepted, Outcome, Refused, Unknown

LINE_LIMIT_BYTES: Final = min(select.PIPE_BUF, 8192)
"""Longer writes into a FIFO may be mixed with others'; Nagios reads at most 8192 bytes."""


def command(result: Result) -> bytes:
    """Return the command's line; a text that does not fit is cut at its end."""
    place = result.place
    kind, target = (
        ("PROCESS_HOST_CHECK_RESULT", place.host)
        if place.service is None
        else ("PROCESS_SERVICE_CHECK_RESULT", f"{place.host};{place.service}")
    )
    head = f"[{result.at_seconds}] {kind};{target};{result.state};"
    room = LINE_LIMIT_BYTES - len(head.encode()) - 1
    return f"{head}{cut(result.text, room)}\n".encode()


def put(file: Path, line: bytes, open_window: Callable[[], None]) -> Outcome:
    """Write one line; nothing here waits, so nothing is ever left half done.

    Args:
        file: the FIFO.
        line: at most `LINE_LIMIT_BYTES`, so that it is written whole or not at all.
        open_window: called directly before the write.
    """
    try:
        pipe = os.open(file, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:  # ENXIO is that nobody reads
        return Refused(f"Nagios does not read its command file: {error}", destination_down=True)
    try:
        if not stat.S_ISFIFO(os.fstat(pipe).st_mode):
            return Refused(f"{file} is no FIFO: is Nagios running?", destination_down=True)
        open_window()
        written = os.write(pipe, line)
    except OSError as error:  # full, or its reader left just now
        return Refused(f"Nagios does not take commands: {error}", destination_down=True)
    finally:
        os.close(pipe)
    if written < len(line):
        return Unknown("the command file took a part of the line")
    return Accepted()
