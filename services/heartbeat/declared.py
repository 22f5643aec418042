"""The declared watches as they are now; a bad file changes nothing and spoils no other."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from services.backbone.clock import Clock
from services.backbone.errors import Refused
from services.backbone.log import logger
from services.backbone.settling import Settling
from services.contracts.declarations import AS_IT_RAN, BadDeclaration, by_name, digest_of, unread_in
from services.contracts.streams import StreamDeclaration, load_streams
from services.contracts.watches import WatchDeclaration, load_watch
from services.heartbeat.metrics import WATCHES
from services.heartbeat.settings import HeartbeatSettings

_NOTHING_BEATS: Final = "no watch that runs declares a heartbeat: a silent auditor is not noticed"

log = logger(__name__)


Streams = Mapping[str, StreamDeclaration]


@dataclass(frozen=True)
class Declared:
    """The watches that beat, the streams that they beat on, and what could not be read."""

    watches: Mapping[str, WatchDeclaration]
    streams: Mapping[str, Streams]
    """By watch, as it was read: one that stays goes on with what it had."""
    problems: Mapping[str, str] = field(default_factory=dict)
    """Why a file is not used, by the file's name; a stream's file stands for all of them."""

    def note(self) -> str | None:
        """Say which files are not used, and why."""
        return "; ".join(self.problems.values()) or None


def read_declared(streams_dir: Path, watches_dir: Path, before: Declared | None = None) -> Declared:
    """Read both folders. Where a file is bad, watches that were there `before` beat on.

    Raises:
        Refused: a stream's file is bad, and nothing was there before.
    """
    try:
        streams = load_streams(streams_dir, AS_IT_RAN)
    except BadDeclaration as error:
        if before is None:
            raise Refused(str(error)) from None
        return Declared(before.watches, before.streams, {"streams": str(error)})
    read: dict[str, WatchDeclaration] = {}
    problems = unread_in(watches_dir)
    for path in sorted(watches_dir.glob("*.yaml")):
        try:
            watch = load_watch(path)
            watch.check_streams(streams)
            read[path.name] = watch
        except BadDeclaration as error:
            problems[path.name] = str(error)
    watches, twice = by_name(read, "watch", lambda watch: watch.watch)
    problems |= twice
    streams_of: dict[str, Streams] = dict.fromkeys(watches, streams)
    if problems and before is not None:
        watches = {**before.watches, **watches}
        streams_of = {**before.streams, **streams_of}
    return Declared(_beating(watches), streams_of, problems)


def _beating(watches: Mapping[str, WatchDeclaration]) -> dict[str, WatchDeclaration]:
    return {name: one for name, one in watches.items() if one.heartbeat and not one.paused}


class Following:
    """The folders of declarations, followed while they change; use from one thread."""

    def __init__(self, settings: HeartbeatSettings, clock: Clock) -> None:
        self._folders = (settings.streams_dir, settings.watches_dir)
        delay = settings.heartbeat_reload_delay_seconds
        self._settling = Settling(self._folders, delay, clock, digest_of(*self._folders))
        self.now = read_declared(*self._folders)
        self._tell()

    def changed(self) -> bool:
        """Read anew what has changed and settled; tell whether there was anything."""
        if not self._settling.changed():
            return False
        self.now = read_declared(*self._folders, before=self.now)
        self._tell()
        return True

    def note(self) -> str | None:
        """Say which files are not used, and why; and so if nothing beats."""
        return self.now.note() or (None if self.now.watches else _NOTHING_BEATS)

    def _tell(self) -> None:
        WATCHES.set(len(self.now.watches))
        log.info("watches_beat", watches=sorted(self.now.watches))
        for file, reason in self.now.problems.items():
            log.error("declaration_rejected", file=file, reason=reason)
