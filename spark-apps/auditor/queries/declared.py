"""What the folders of streams and watches say right now, good files and bad ones."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from auditor.checkpoints.checkpoint import fingerprint
from auditor.queries import guards
from auditor.queries.books import check_book
from auditor.queries.rules import Row, read_rules
from engine.queries import UNFORESEEN
from services.backbone.errors import Refused
from services.contracts.declarations import (
    BadDeclaration,
    by_name,
    digest_of,
    is_read,
    unread_in,
)
from services.contracts.streams import StreamDeclaration, load_streams
from services.contracts.watches import WatchDeclaration, load_watch


@dataclass(frozen=True, slots=True)
class Face:
    """What tells one declaration of a watch from another."""

    state: str
    """The version: all that the state depends on."""
    whole: str
    """Everything, texts and rules included."""


MARK_LENGTH: Final = 16


@dataclass(frozen=True)
class Declared:
    """A watch with the streams that it reads."""

    watch: WatchDeclaration
    streams: Mapping[str, StreamDeclaration]
    rules: tuple[Row, ...] = ()
    """Rows of its table of rules."""

    @property
    def name(self) -> str:
        """The watch's name."""
        return self.watch.watch

    @property
    def mark(self) -> str:
        """What its alerts carry, so that alerts of one declaration are known from another's."""
        return self._whole[:MARK_LENGTH]

    def face(self, shuffle_partitions: int) -> Face:
        """Return what tells this declaration from another of the same watch."""
        return Face(fingerprint(self.watch, self.streams, shuffle_partitions).id, self._whole)

    @cached_property
    def _whole(self) -> str:
        """Every look asks for it, and a table of rules may have 16 MiB."""
        parts: dict[str, Any] = {
            name: one.model_dump(mode="json") for name, one in self.streams.items()
        }
        parts |= {"watch": self.watch.model_dump(mode="json"), "rules": self.rules}
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Declarations:
    """One reading of both folders."""

    digest: str
    """Changes with every byte of every file, and with nothing else."""
    watches: Mapping[str, Declared]
    """The watches of good files, paused ones included."""
    problems: Mapping[str, str]
    """Why a file cannot be used, by the file's name; each names the line where it can."""

    def bad_files(self) -> list[str]:
        """Return why files cannot be used, without those that only have another ending."""
        return [reason for file, reason in self.problems.items() if is_read(file)]

    def wanted(self) -> dict[str, Declared]:
        """Return the watches that should run."""
        return {name: one for name, one in self.watches.items() if not one.watch.paused}

    def may_want(self, name: str) -> bool:
        """Tell whether a watch that ran should run on, as far as the files can be read."""
        return name in self.wanted() or bool(self.problems and name not in self.watches)


def read_declarations(streams_folder: Path, watches_folder: Path) -> Declarations:
    """Read both folders; a bad watch file is noted and spoils no other.

    Raises:
        Refused: a stream's file is bad, which any watch may need, or there is no watch at all.
    """
    digest = digest_of(streams_folder, watches_folder)
    try:
        streams = load_streams(streams_folder)
    except BadDeclaration as error:
        raise Refused(str(error)) from None
    read: dict[str, Declared] = {}
    problems = unread_in(watches_folder)
    for path in sorted(watches_folder.glob("*.yaml")):
        try:
            read[path.name] = read_watch(path, streams)
        except (BadDeclaration, Refused) as error:
            problems[path.name] = str(error)
        except UNFORESEEN as error:
            problems[path.name] = f"{path.name}: it cannot be read: {error!r}"
    if not read and not any(map(is_read, problems)):
        none = f"no watch is declared: {watches_folder} has no *.yaml file"
        raise Refused("; ".join([none, *problems.values()]))
    watches, twice = by_name(read, "watch", lambda declared: declared.name)
    return Declarations(digest, watches, problems | twice)


def read_watch(path: Path, streams: dict[str, StreamDeclaration]) -> Declared:
    """Read one watch with its rules, and check all that needs no Spark.

    Raises:
        BadDeclaration: a file is wrong; the message names file, line and reason.
        Refused: the SQL is not one SELECT over what the watch may read.
    """
    watch = load_watch(path)
    watch.check_streams(streams)
    guards.check_sql(watch)
    check_book(watch, streams[watch.streams[0]])
    rules = read_rules(watch.rules, path.parent) if watch.rules else ()
    return Declared(watch, {name: streams[name] for name in watch.streams}, rules)
