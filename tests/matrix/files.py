"""The far ends that are files: the log channel's, and a real Nagios by its two ways in."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from services.contracts.records import Delivery
from services.deliverer.channels.nagios.wording import mark
from tests.integration import nagios as real_nagios
from tests.integration.nagios import Nagios
from tests.matrix.peer import Lack, Lacks, Peer, Refusal, Refusals, Surroundings, Taken, marks_of
from tests.matrix.stance import Stance
from tests.passage import Passage
from tests.said import whole_lines, written_to

_KNOWN: Final = "aldebaran/over-purchase"
_UNKNOWN: Final = "aldebaran/nobody-declared-this"
_WHOLE: Final = "a result is handed over by one call, whole or not at all"
_AT_ONCE: Final = "that call's own return is the answer: nothing comes later that could be lost"
_NO_TROUBLE: Final = "a file has no errors of its own beside that it cannot be opened"
_OF_FILES: Final[Lacks] = {
    Lack.HALF_WAY: _WHOLE,
    Lack.ANSWER: _AT_ONCE,
    Refusal.IN_TROUBLE: _NO_TROUBLE,
}


@dataclass
class LogFile:
    """The file of the log channel."""

    channel: str
    recipient: str
    settings: Mapping[str, str]
    file: Path
    stance: Stance
    lacks: Lacks
    silent_after_first: bool = False
    passage: Passage | None = None

    @property
    def refusals(self) -> Refusals:
        """What can be done to the file."""
        return self.stance.refusals

    def taken(self, sent: list[Delivery]) -> Taken:
        """Count lines by delivery id."""
        lines = whole_lines(written_to(self.file)) if self.file.is_file() else []
        bodies: dict[str, list[str]] = defaultdict(list)
        for line in lines:
            bodies[json.loads(line)["delivery_id"]].append(line)
        return Taken({each.delivery_id: marks_of(bodies[each.delivery_id]) for each in sent})

    def dial(self, **faults: object) -> bool:
        """Let the file be unusable; a file has no answers to play with."""
        self.stance.turn(faults)
        return False


@contextmanager
def log(around: Surroundings) -> Iterator[Peer]:
    """A file."""
    file = around.folder / "deliveries.jsonl"
    stance = Stance({Refusal.FOR_NOW: partial(a_folder_instead, file)})
    lacks = {**_OF_FILES, Refusal.FOR_GOOD: "a file takes any line, or none for now"}
    settings = {"ALDEBARAN_LOG_CHANNEL_FILE": str(file)}
    yield LogFile("log", "anybody", settings, file, stance, lacks)


@contextmanager
def a_folder_instead(file: Path) -> Iterator[None]:
    """Have a folder where the file would be made: it cannot be opened for writing."""
    file.mkdir()
    yield
    file.rmdir()


@dataclass
class RealNagios:
    """A Nagios that reads what is handed over and logs each alert of a volatile service."""

    channel: str
    recipient: str
    settings: Mapping[str, str]
    nagios: Nagios
    lacks: Lacks
    silent_after_first: bool = False
    passage: Passage | None = None

    def __post_init__(self) -> None:
        by_command = self.settings["ALDEBARAN_NAGIOS_WAY"] == "command"
        closed = self._nagios_away if by_command else self._spool_away
        self.stance = Stance({Refusal.FOR_NOW: closed, Refusal.FOR_GOOD: self._unknown_recipient})

    @property
    def refusals(self) -> Refusals:
        """What can be done to this Nagios."""
        return self.stance.refusals

    def taken(self, sent: list[Delivery]) -> Taken:
        """Count Nagios' own lines by delivery id."""
        return Taken({each.delivery_id: marks_of(self._lines(each)) for each in sent})

    def dial(self, **faults: object) -> bool:
        """Let it refuse; files have no answers that could be lost."""
        self.stance.turn(faults)
        return False

    def _lines(self, each: Delivery) -> list[str]:
        return self.nagios.logged("SERVICE ALERT", mark(each.delivery_id))

    @contextmanager
    def _nagios_away(self) -> Iterator[None]:
        self.nagios.kill()
        yield
        self.nagios.start()

    @contextmanager
    def _spool_away(self) -> Iterator[None]:
        aside = self.nagios.spool.with_name("aside")
        self.nagios.spool.rename(aside)
        yield
        aside.rename(self.nagios.spool)

    @contextmanager
    def _unknown_recipient(self) -> Iterator[None]:
        self.recipient = _UNKNOWN
        yield
        self.recipient = _KNOWN


@contextmanager
def nagios(way: str, around: Surroundings) -> Iterator[Peer]:
    """A real Nagios, where one is installed; the way in is `spool` or `command`."""
    if wrong := real_nagios.complaint():
        pytest.skip(wrong)
    running = Nagios(around.folder / "nagios")
    settings = {
        "ALDEBARAN_NAGIOS_WAY": way,
        "ALDEBARAN_NAGIOS_SPOOL": str(running.spool),
        "ALDEBARAN_NAGIOS_COMMAND_FILE": str(running.command_file),
        "ALDEBARAN_NAGIOS_LOG_FILE": str(running.log_file),
        "ALDEBARAN_NAGIOS_STATUS_FILE": str(running.status_file),
    }
    try:
        running.start()
        yield RealNagios("nagios", _KNOWN, settings, running, _OF_FILES)
    finally:
        running.kill()
