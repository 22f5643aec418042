"""What Nagios tells of itself: the status file that it writes anew all few seconds."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from services.deliverer.channels.nagios.wording import Place

_DIGITS_LIMIT: Final = 18
_KINDS: Final = frozenset({"info", "programstatus", "hoststatus", "servicestatus"})


@dataclass(frozen=True, slots=True)
class Shown:
    """A host's or service's last result."""

    last_check_seconds: int
    text: str
    """All lines as the file has them, escaped by Nagios."""


@dataclass(frozen=True, slots=True)
class Status:
    """One writing of the status file."""

    created_seconds: int
    started_seconds: int
    """When this run of Nagios began."""
    shown: dict[Place, Shown] = field(default_factory=dict)


def read_status(lines: Iterable[str]) -> Status:
    """Read a status file; what is not understood is passed over."""
    created = started = 0
    shown: dict[Place, Shown] = {}
    for kind, values in _blocks(lines):
        match kind:
            case "info":
                created = _number(values.get("created"))
            case "programstatus":
                started = _number(values.get("program_start"))
            case _:
                place = Place(values.get("host_name", ""), values.get("service_description"))
                text = values.get("plugin_output", "") + values.get("long_plugin_output", "")
                shown[place] = Shown(_number(values.get("last_check")), text)
    return Status(created, started, shown)


class StatusFile:
    """Reads the file again only when it has changed."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._read_at: tuple[int, int] | None = None
        self._status = Status(0, 0)

    def read(self) -> Status:
        """Return what Nagios last wrote.

        Raises:
            OSError: the file cannot be read.
        """
        found = self._file.stat()
        version = (found.st_ino, found.st_mtime_ns)
        if version != self._read_at:
            with self._file.open(encoding="utf-8", errors="replace") as lines:
                self._status = read_status(lines)
            self._read_at = version
        return self._status


def _blocks(lines: Iterable[str]) -> Iterator[tuple[str, dict[str, str]]]:
    kind: str | None = None
    values: dict[str, str] = {}
    for line in lines:
        words = line.strip()
        if words.endswith(" {") and words[:-2] in _KINDS:
            kind, values = words[:-2], {}
        elif words == "}" and kind is not None:
            yield kind, values
            kind = None
        elif kind is not None:
            name, _, value = words.partition("=")
            values[name] = value


def _number(value: str | None) -> int:
    if value is None or not value.isdecimal() or len(value) > _DIGITS_LIMIT:
        return 0
    return int(value)
