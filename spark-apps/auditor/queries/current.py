"""Keeps, beside a watch's versions, the declaration that runs, and the one that worked before it.

A changed rule takes over only once it has caught up. Until then, restarts included, the auditor
needs the declaration before the change, which no file of the watches' folder holds any more. So
it does where changed rows turn out bad only when events meet them; which rows did is kept too.
"""

import hashlib
import json
import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from auditor.checkpoints.checkpoint import fingerprint
from auditor.checkpoints.disk import failed, write_whole
from auditor.queries.declared import Declared
from auditor.queries.rules import Row
from services.backbone.errors import Transient
from services.backbone.log import logger
from services.contracts.declarations import AS_IT_RAN
from services.contracts.streams import StreamDeclaration
from services.contracts.watches import WatchDeclaration

_FILE: Final = "current.json"
_WORKED: Final = "worked.json"
"""The declaration before the current one: of the same state, with other rows, and it worked."""
_ADVICE: Final = "let the auditor read its own checkpoints"

log = logger(__name__)


class _Refusal(BaseModel):
    model_config = ConfigDict(frozen=True)

    rows: str
    """Digest of the rows, which may have 16 MiB."""
    reason: str


class _Note(BaseModel):
    model_config = ConfigDict(frozen=True)

    watch: WatchDeclaration
    streams: dict[str, StreamDeclaration]
    rules: tuple[Row, ...] = ()
    worked: bool = False
    """Whether a batch that read records has ended under it."""
    since_ms: int = 0
    """When its rows came, by the wall clock, as an hour counts over restarts; 0 is long ago."""
    refused: _Refusal | None = None
    """Rows in place of which those before run again."""

    @property
    def declared(self) -> Declared:
        return Declared(self.watch, self.streams, self.rules)


def keep(home: Path, declared: Declared, *, worked: bool = False, now_ms: int = 0) -> None:
    """Note that this declaration runs now, and whether a batch that read records has ended.

    Where only its words are new, its rows have been there for as long as before, and what was
    refused stays so. One with other rows that worked stays known, as what can be gone back to.

    Raises:
        Transient: the folder cannot be written to.
        Refused: what is kept cannot be read until a person changes something.
    """
    refused: _Refusal | None = None
    before = _read_note(home / _FILE)
    if before is not None and _has_other_rows(before, declared):
        if before.worked:
            _write(home / _WORKED, before.declared, worked=True)
    elif before is not None and _is_of_state(before, declared):
        worked, now_ms = worked or before.worked, before.since_ms
        refused = before.refused
    _write(home / _FILE, declared, worked=worked, since_ms=now_ms, refused=refused)


def restore(home: Path, declared: Declared, *, refused: Declared, reason: str) -> None:
    """Note that one that worked runs again, in place of one whose rows were refused, and why.

    Raises:
        Transient: the folder cannot be written to.
    """
    why = _Refusal(rows=_digest_of(refused.rules), reason=reason)
    _write(home / _FILE, declared, worked=True, refused=why)


def refusal(home: Path, declared: Declared) -> str | None:
    """Return why these rows were refused, where those before them run since; None if they do not.

    Another rule may bear the same rows, so it is not refused for them.

    Raises:
        Transient, Refused: as `read_current`.
    """
    note = _read_note(home / _FILE)
    if note is None or note.refused is None or not _has_other_rows(note, declared):
        return None
    return note.refused.reason if note.refused.rows == _digest_of(declared.rules) else None


def forget(home: Path) -> None:
    """Note that the watch does not run; what the disk refuses now, the next start does."""
    try:
        for name in (_WORKED, _FILE):
            (home / name).unlink(missing_ok=True)
    except OSError as error:
        log.warning("current_cannot_be_forgotten", file=str(home / _FILE), reason=str(error))


def read_earlier(home: Path, declared: Declared) -> Declared | None:
    """Return the last declaration with other rows on the same state that worked; None without one.

    Raises:
        Transient, Refused: as `read_current`.
    """
    notes = (_read_note(home / name) for name in (_FILE, _WORKED))
    found = (one for one in notes if one and one.worked and _has_other_rows(one, declared))
    return next((one.declared for one in found), None)


def worked_since_ms(home: Path, declared: Declared) -> int | None:
    """Return since when these rows run; None until a batch that read records has ended.

    Raises:
        Transient, Refused: as `read_current`.
    """
    note = _read_note(home / _FILE)
    if note is None or not note.worked or note.rules != declared.rules:
        return None
    return note.since_ms if _is_of_state(note, declared) else None


def read_current(home: Path) -> Declared | None:
    """Return the declaration that ran last; None if none did, or if what it says is no declaration.

    Raises:
        Transient: the file cannot be read now.
        Refused: it cannot be read until a person changes something.
    """
    note = _read_note(home / _FILE)
    return note.declared if note else None


def _read_note(path: Path) -> _Note | None:
    try:
        return _Note.model_validate_json(path.read_bytes(), context=AS_IT_RAN)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise failed(str(path), error, _ADVICE) from None
    except ValidationError as error:
        log.warning("current_cannot_be_read", file=str(path), reason=str(error)[:500])
        return None


def _write(
    path: Path,
    declared: Declared,
    *,
    worked: bool,
    since_ms: int = 0,
    refused: _Refusal | None = None,
) -> None:
    note = _Note(
        watch=declared.watch,
        streams=dict(declared.streams),
        rules=declared.rules,
        worked=worked,
        since_ms=since_ms,
        refused=refused,
    )
    try:
        write_whole(path, note.model_dump(mode="json", exclude_unset=True, by_alias=True))
    except OSError as error:
        raise Transient(f"{path}: {error}") from None


def _has_other_rows(note: _Note, declared: Declared) -> bool:
    return note.rules != declared.rules and _is_of_state(note, declared)


def _digest_of(rows: Sequence[Row]) -> str:
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def _is_of_state(note: _Note, declared: Declared) -> bool:
    """How many parts the state has is the auditor's, not the declaration's."""
    of_note = fingerprint(note.watch, note.streams, 1)
    return of_note == fingerprint(declared.watch, declared.streams, 1)


def all_current(checkpoints: Path) -> dict[str, Declared]:
    """Return every watch that ran last, of one auditor's checkpoints; raises as `read_current`."""
    homes = (checkpoints / name for name in _folders_in(checkpoints))
    found = (read_current(home) for home in homes)
    return {declared.name: declared for declared in found if declared is not None}


def unreadable(checkpoints: Path, known: Collection[str]) -> list[str]:
    """Return the watches that ran last beside the known ones: what is kept of them is no
    declaration, or none any more.

    Raises:
        Transient, Refused: as `read_current`.
    """
    others = (name for name in _folders_in(checkpoints) if name not in known)
    return [name for name in others if (checkpoints / name / _FILE).exists()]


def _folders_in(checkpoints: Path) -> list[str]:
    """Path.glob takes a folder that cannot be listed for an empty one."""
    try:
        with os.scandir(checkpoints) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise failed(str(checkpoints), error, _ADVICE) from None
