"""The records that a watch reads past, because its SQL fails on them."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from auditor.checkpoints.disk import failed, write_whole
from services.backbone.errors import Refused, Transient

SPARED_MAX: Final = 100
"""A rule that fails on more records is wrong itself, and each one costs every event a look."""

_FILE: Final = "spared.json"


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where a record lies."""

    topic: str
    partition: int
    offset: int


def read_spared(folder: Path) -> tuple[Place, ...]:
    """Return the places that this version of a watch reads past; none if there is no note.

    Raises:
        Refused: the note cannot be read, and a person has to help.
        Transient: it cannot be read just now.
    """
    path = folder / _FILE
    try:
        return tuple(Place(**place) for place in json.loads(path.read_text()))
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise failed(f"{path} cannot be read", error, "let the auditor read it") from None
    except (ValueError, TypeError) as error:
        raise Refused(f"{path} cannot be read ({error}): move it away, or mend it") from None


def note_spared(folder: Path, places: Sequence[Place]) -> None:
    """Keep these places for every later start; a crash leaves the old note or the new one.

    Raises:
        Transient: they cannot be written now.
    """
    try:
        write_whole(folder / _FILE, [asdict(place) for place in places])
    except OSError as error:
        raise Transient(f"the places of spared records cannot be noted: {error}") from None
