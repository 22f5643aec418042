"""Reads what a Postfix has logged of one Message-ID: bounded, over a rotation, in either time form.

Postfix names a mail by its queue id. `cleanup` tells queue id and Message-ID when the content
begins; `qmgr` tells the queue id once the mail is whole and in the queue; each try to hand it on
ends in a line with `status=`.
"""

import os
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

_LINE: Final = re.compile(rb"/(\w+)\[\d+\]: (\w{5,30}): (.*)$")
_STATUS: Final = re.compile(
    rb"(?:to=<(?P<to>[^>]*)>.*?, )?(?:dsn=(?P<dsn>[\d.]+), )?"
    rb"status=(?P<status>[\w-]+)(?:[ ,]+\(?(?P<said>.*?)\)?)?$"
)
_QUEUED_AS: Final = re.compile(rb"queued as (\w{5,30})")
_ISO: Final = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")
_OLD: Final = re.compile(rb"([A-Z][a-z]{2}) ([ \d]\d) (\d\d):(\d\d):(\d\d) ")
_MONTHS: Final = b"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
_DAY_MS: Final = 86_400_000
_PASSAGES_LIMIT: Final = 100


@dataclass(frozen=True, slots=True)
class Result:
    """What a try to hand a mail on came to."""

    status: str
    """sent, deferred, bounced, expired."""
    dsn: str
    """The enhanced status code, from the far end or Postfix' own."""
    said: str
    """What the next server said."""

    @property
    def lost(self) -> bool:
        """Whether Postfix has given the mail up for this recipient."""
        return self.status in ("bounced", "expired", "force-expired")


@dataclass(slots=True)
class Passage:
    """One mail's way through the relay, under one queue id."""

    queue_id: str
    at_ms: int | None
    queued: bool = False
    """Whole, and on the relay's disk."""
    results: dict[str, Result] = field(default_factory=dict)
    """The last one for each address."""
    next_ids: set[str] = field(default_factory=set)
    """Queue ids under which the next server has it."""


@dataclass(slots=True)
class Logged:
    """What a log tells of one Message-ID."""

    first_ms: int | None = None
    """When the first line was written that was read."""
    last_ms: int | None = None
    shows_others: bool = False
    """Whether it has other mails of ours."""
    passages: list[Passage] = field(default_factory=list)


def tail(file: Path, limit_bytes: int) -> Iterator[bytes]:
    """Return the whole lines at the end of a log and of the one rotated before, in sequence.

    Raises:
        OSError: the log cannot be read.
    """
    with ExitStack() as opened:
        current = opened.enter_context(file.open("rb"))
        files = [current]
        try:
            older = opened.enter_context(file.with_name(file.name + ".1").open("rb"))
            if os.fstat(older.fileno()).st_ino != os.fstat(current.fileno()).st_ino:
                files.insert(0, older)
        except FileNotFoundError:
            pass
        sizes = [os.fstat(each.fileno()).st_size for each in files]
        for index, lines in enumerate(files):
            begin = max(0, sum(sizes[index:]) - limit_bytes)
            if begin >= sizes[index]:
                continue
            lines.seek(begin)
            if begin:
                lines.readline()
            yield from (line for line in lines if line.endswith(b"\n"))


def read(lines: Iterable[bytes], message_id: str, domain: str, now_ms: int) -> Logged:
    """Read a log's lines; what is not understood is passed over."""
    sought = f"message-id={message_id}".encode()
    ours = re.compile(rb"message-id=<[0-9a-f]{32}@" + re.escape(domain.encode()) + rb">")
    logged, followed = Logged(), dict[bytes, Passage]()
    last = b""
    for line in lines:
        last = line
        if logged.first_ms is None:
            logged.first_ms = stamp_ms(line, now_ms)
        if sought in line:
            _begin(line, sought, now_ms, logged, followed)
        elif followed and any(each in line for each in followed):
            _follow(line, followed)
        elif not logged.shows_others:
            logged.shows_others = ours.search(line) is not None
    logged.last_ms = stamp_ms(last, now_ms)
    return logged


def stamp_ms(line: bytes, now_ms: int) -> int | None:
    """Return when a line was written, None if it does not say.

    The older form has no year and no zone: it is the latest such time in our own zone that is not
    more than a day ahead.
    """
    if found := _ISO.match(line):
        return _moment_ms(found[0].decode())
    found = _OLD.match(line)
    if found is None or found[1] not in _MONTHS:
        return None
    month = _MONTHS.index(found[1]) + 1
    day, hour, minute, second = (int(each) for each in found.groups()[1:])
    year = time.gmtime(now_ms / 1000).tm_year
    times = (
        int(time.mktime((each, month, day, hour, minute, second, 0, 0, -1))) * 1000
        for each in (year + 1, year, year - 1)
    )
    return next((each for each in times if each <= now_ms + _DAY_MS), None)


def _moment_ms(written: str) -> int | None:
    """Return a moment, None if there is none like that, such as a leap second."""
    try:
        return int(datetime.fromisoformat(written).timestamp() * 1000)
    except ValueError:
        return None


def _begin(
    line: bytes, sought: bytes, now_ms: int, logged: Logged, followed: dict[bytes, Passage]
) -> None:
    found = _LINE.search(line.rstrip())
    if found is None or not found[3].startswith(sought):
        return
    if len(logged.passages) < _PASSAGES_LIMIT:
        passage = Passage(found[2].decode(), stamp_ms(line, now_ms))
        logged.passages.append(passage)
        followed[found[2]] = passage


def _follow(line: bytes, followed: dict[bytes, Passage]) -> None:
    found = _LINE.search(line.rstrip())
    passage = followed.get(found[2]) if found else None
    if found is None or passage is None:
        return
    program, rest = found[1], found[3]
    if program == b"qmgr" and b"queue active" in rest:
        passage.queued = True
    if rest == b"removed":  # Postfix may use the queue id again
        del followed[found[2]]
    elif status := _STATUS.search(rest):
        said = status["said"] or b""
        result = Result(*(_text(status[name]) for name in ("status", "dsn", "said")))
        passage.queued = True
        passage.results[_text(status["to"])] = result
        passage.next_ids |= {_text(each) for each in _QUEUED_AS.findall(said)}


def _text(found: bytes | None) -> str:
    return (found or b"").decode(errors="replace")[:300]
