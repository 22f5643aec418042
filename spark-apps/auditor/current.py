"""Keeps, beside a watch's versions, the declaration that runs: the last one that was good.

A changed rule takes over only once it has caught up. Until then, restarts included, the auditor
needs the declaration before the change, which no file of the watches' folder holds any more.
"""

import os
from collections.abc import Collection
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from auditor.checkpoint import write_whole
from auditor.declared import Declared
from auditor.disk import failed
from auditor.rules import Row
from services.backbone.errors import Transient
from services.backbone.log import logger
from services.contracts.streams import StreamDeclaration
from services.contracts.watches import WatchDeclaration

_FILE: Final = "current.json"
_ADVICE: Final = "let the auditor read its own checkpoints"

log = logger(__name__)


class _Note(BaseModel):
    model_config = ConfigDict(frozen=True)

    watch: WatchDeclaration
    streams: dict[str, StreamDeclaration]
    rules: tuple[Row, ...] = ()


def keep(home: Path, declared: Declared) -> None:
    """Note that this declaration runs now.

    Raises:
        Transient: the folder cannot be written to.
    """
    note = _Note(watch=declared.watch, streams=dict(declared.streams), rules=declared.rules)
    try:
        write_whole(home / _FILE, note.model_dump(mode="json", exclude_unset=True, by_alias=True))
    except OSError as error:
        raise Transient(f"{home / _FILE}: {error}") from None


def forget(home: Path) -> None:
    """Note that the watch does not run; what the disk refuses now, the next start does."""
    try:
        (home / _FILE).unlink(missing_ok=True)
    except OSError as error:
        log.warning("current_cannot_be_forgotten", file=str(home / _FILE), reason=str(error))


def read_current(home: Path) -> Declared | None:
    """Return the declaration that ran last; None if none did, or if what it says is no declaration.

    Raises:
        Transient: the file cannot be read now.
        Refused: it cannot be read until a person changes something.
    """
    path = home / _FILE
    try:
        note = _Note.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise failed(str(path), error, _ADVICE) from None
    except ValidationError as error:
        log.warning("current_cannot_be_read", file=str(path), reason=str(error)[:500])
        return None
    return Declared(note.watch, note.streams, note.rules)


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
