"""One folder for each version of a watch, and beside Spark's checkpoint what the query was.

A version is all that the state depends on: a changed rule never continues another rule's state, a
change taken back finds its own again, and what cannot be trusted is set aside, never deleted.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from auditor import metrics
from auditor.checkpoints.disk import failed, is_there, write_whole
from auditor.checkpoints.spacing import meant, words
from services.backbone.errors import Refused, Transient
from services.backbone.log import logger
from services.contracts.streams import StreamDeclaration
from services.contracts.watches import WatchDeclaration

FORMAT: Final = 1
ASIDE: Final = "aside"
"""Name of the folder, beside a watch's versions, that keeps what was set aside."""

TRIED_BYTES: Final = 1024 * 1024

_FILE: Final = "watch.json"
_SPARK: Final = "spark"
_NOTE: Final = "store.json"
_SINCE: Final = "since_ms"
_VERSION: Final = "version"
_ID_LENGTH: Final = 12
_NEWEST: Final = "white_space"
"""Part of a fingerprint that this release always writes, and no earlier one did."""
_LATER: Final = ("book", _NEWEST)
"""Parts of a fingerprint that earlier releases did not know."""

log = logger(__name__)


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Everything that the state of a query depends on; texts and severities may change freely."""

    format: int
    sql: str
    arguments: str
    streams: str
    watermark: str
    shuffle_partitions: int
    book: str = ""
    """Of a book its stream's key and its columns, in the sequence in which its bytes lie."""
    white_space: str = ""
    """Of SQL that its words alone do not tell, how it is read."""

    @property
    def id(self) -> str:
        """The name of this version's folder; without what came later the one it always had."""
        parts = {name: part for name, part in asdict(self).items() if part or name not in _LATER}
        return _digest(json.dumps(parts, sort_keys=True))[:_ID_LENGTH]

    def differences(self, other: "Fingerprint") -> list[str]:
        """Return the names of the parts that differ."""
        mine, theirs = asdict(self), asdict(other)
        return [name.replace("_", " ") for name in mine if mine[name] != theirs[name]]


def fingerprint(
    watch: WatchDeclaration, streams: Mapping[str, StreamDeclaration], shuffle_partitions: int
) -> Fingerprint:
    """Return what the watch's state depends on; white space between words of SQL does not count.

    Neither do the rows of its table of rules: they may change while the state goes on.
    """
    columns = {name: streams[name].spark_ddl() for name in watch.streams}
    read = meant(watch.sql)
    arguments: dict[str, Any] = dict(watch.arguments())
    if watch.rules:
        arguments["rules"] = list(watch.rules.columns.items())
    if watch.book:
        arguments["book"] = watch.book.model_dump()
    return Fingerprint(
        format=FORMAT,
        sql=_digest(words(watch.sql)),
        arguments=_digest(json.dumps(arguments, sort_keys=True)),
        streams=_digest(json.dumps(columns)),
        watermark=watch.watermark,
        shuffle_partitions=shuffle_partitions,
        book=_layout(watch, streams),
        white_space=_digest(read) if read else "",
    )


def _layout(watch: WatchDeclaration, streams: Mapping[str, StreamDeclaration]) -> str:
    if watch.book is None:
        return ""
    return _digest(json.dumps([streams[watch.streams[0]].key, *watch.book.events]))


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The folder of one version of one watch."""

    watch: str
    home: Path
    """The watch's folder: versions, and what was set aside."""
    wanted: Fingerprint
    store: str = ""
    """The address of the watch's part of a store, where Spark's checkpoints are kept in one."""

    @property
    def folder(self) -> Path:
        """Everything of this version."""
        return self.home / self.wanted.id

    @property
    def spark(self) -> Path:
        """What Spark calls the checkpoint, on a disk."""
        return self.folder / _SPARK

    def location(self) -> str:
        """Return what Spark is told.

        A store cannot rename a folder: it is our note on the disk, set aside with all the rest,
        that says which folder of the store is this version's.

        Raises:
            ValueError: there is no such note; `claim` writes it.
            Refused: the note cannot be read, for example for its rights.
            Transient: it cannot be read just now.
        """
        if not self.store:
            return str(self.spark)
        try:
            return f"{self.store}/{_part(self.folder / _NOTE, self.wanted.id)}"
        except OSError as error:
            raise self._failed(error) from None

    def claim(self, now_ms: int) -> None:
        """Make sure that the folder is this version's; what is not is set aside.

        Raises:
            Refused: the folder cannot be used at all, for example for its rights.
            Transient: the disk is full, or something cannot be read just now.
        """
        try:
            _adopt(self.home)
            # A link is a name for older programs: what it leads to is another rule's.
            if self.folder.is_symlink():
                self.folder.unlink()
            if is_there(self.folder) and (wrong := self._wrong()):
                self.set_aside(wrong, now_ms)
            if not is_there(self.folder / _FILE):
                write_whole(self.folder / _FILE, asdict(self.wanted))
            if self.store and not is_there(self.folder / _NOTE):
                write_whole(self.folder / _NOTE, {_SINCE: now_ms})
        except OSError as error:
            raise self._failed(error) from None

    def take_over(self) -> None:
        """Give a version of before its book or its white space counted the name that it has now.

        Only for what ran last: of no other declaration is known that its state lies there.

        Raises:
            Refused: the folder cannot be used at all, for example for its rights.
            Transient: it cannot be renamed just now.
        """
        try:
            for earlier in _as_named_before(self.wanted):
                before = self.home / earlier.id
                if self._has_run_in(before, earlier) and not is_there(self.folder):
                    _rename(before, self.wanted)
        except OSError as error:
            raise self._failed(error) from None

    def _has_run_in(self, before: Path, earlier: Fingerprint) -> bool:
        """Of this release a folder of that name is another rule's, unless it is being renamed."""
        parts = _read_parts(before / _FILE)
        found = _fingerprint_of(parts)
        return found == self.wanted or (found == earlier and _NEWEST not in parts)

    def _failed(self, error: OSError) -> Refused | Transient:
        what = f"watch {self.watch}: checkpoint folder {self.folder}"
        return failed(what, error, "give the auditor a folder that it may read and write")

    def _wrong(self) -> str | None:
        """What cannot be read just now may be whole: only what was read can be wrong."""
        found, noted = _read(self.folder / _FILE), is_there(self.folder / _NOTE)
        if noted and not _is_note(self.folder / _NOTE):
            return f"{_NOTE} is not understood"
        if found == self.wanted or not (noted or is_there(self.spark)):
            return None
        if found is None:
            return f"{_FILE} is missing or not understood"
        return f"{_FILE} is of another query: {', '.join(found.differences(self.wanted))}"

    def try_to_write(self) -> None:
        """Write as much as a batch does, and remove it.

        Raises:
            Transient: the disk does not take it.
        """
        tried = self.home / "tried.new"
        try:
            with tried.open("wb") as file:
                file.write(bytes(TRIED_BYTES))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise Transient(f"the disk of {self.home}: {error}") from None
        finally:
            # What stays is written over at the next try.
            with suppress(OSError):
                tried.unlink(missing_ok=True)

    def set_aside(self, reason: str, now_ms: int) -> Path:
        """Rename the folder so that the query starts from nothing; nothing is deleted.

        Raises:
            OSError: the folder cannot be renamed.
        """
        at = datetime.fromtimestamp(now_ms / 1000, UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        kept = self.home / ASIDE / f"{at}-{self.folder.name}"
        kept.parent.mkdir(parents=True, exist_ok=True)
        self.folder.rename(kept)
        metrics.SET_ASIDE.labels(self.watch).inc()
        log.error(
            "checkpoint_set_aside",
            watch=self.watch,
            reason=reason,
            kept=str(kept),
            next="the watch reads its streams again from the oldest kept event; alert ids stay",
        )
        return kept


def _as_named_before(wanted: Fingerprint) -> list[Fingerprint]:
    """What each release took it for, the newest first."""
    return [replace(wanted, white_space=""), replace(wanted, white_space="", book="")]


def _adopt(home: Path) -> None:
    """Move a checkpoint that lies in the watch's folder itself, as once was, to its version's."""
    found = _read(home / _FILE)
    if found is None or is_there(home / found.id):
        return
    (home / found.id).mkdir()
    if is_there(home / _SPARK):
        (home / _SPARK).rename(home / found.id / _SPARK)
    (home / _FILE).rename(home / found.id / _FILE)


def _rename(folder: Path, wanted: Fingerprint) -> None:
    """What lies in a store stays there; cut short at any point, this can be done again."""
    if _is_note(folder / _NOTE):
        note = json.loads((folder / _NOTE).read_text())
        write_whole(folder / _NOTE, note | {_VERSION: folder.name})
    write_whole(folder / _FILE, asdict(wanted))
    folder.rename(folder.with_name(wanted.id))
    for earlier in _as_named_before(wanted):
        # After a roll back older programs find it; where a disk has no links they begin anew.
        with suppress(OSError):
            folder.with_name(earlier.id).symlink_to(wanted.id)


def _read(path: Path) -> Fingerprint | None:
    return _fingerprint_of(_read_parts(path))


def _read_parts(path: Path) -> dict[str, Any]:
    """Return what is written there, nothing where that is no fingerprint."""
    try:
        return dict(json.loads(path.read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return {}


def _fingerprint_of(parts: Mapping[str, Any]) -> Fingerprint | None:
    known = {field.name for field in fields(Fingerprint)}
    try:
        return Fingerprint(**{name: part for name, part in parts.items() if name in known})
    except TypeError:
        return None


def _part(note: Path, version: str) -> str:
    """Return the folder in the store; a version that was renamed has its earlier name there."""
    try:
        said = json.loads(note.read_text())
        since_ms = int(said[_SINCE])
        return f"{said.get(_VERSION, version)}/{since_ms}"
    except (FileNotFoundError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{note}: {error}") from None


def _is_note(note: Path) -> bool:
    try:
        _part(note, "")
    except ValueError:
        return False
    return True


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
