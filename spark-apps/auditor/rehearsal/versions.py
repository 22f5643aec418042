"""The versions of a watch that are tried, read from their texts as the auditor reads files."""

from dataclasses import dataclass
from pathlib import Path
from shutil import copyfile
from typing import Final

from auditor.queries.declared import Declared, read_watch
from auditor.queries.slots import topics_of
from auditor.settings import AuditorSettings
from services.backbone.errors import Refused
from services.contracts.declarations import BadDeclaration
from services.contracts.rehearsals import Rehearsal
from services.contracts.streams import load_streams
from services.contracts.watches import parse_watch

FILE: Final = "watch.yaml"
"""The name by which errors speak of a text."""


@dataclass(frozen=True, slots=True)
class Versions:
    """The new version, and the live one where there is one that can be read."""

    new: Declared
    live: Declared | None = None
    live_refused: str = ""

    def topics(self) -> list[str]:
        """Return every topic that one of them reads."""
        both = [self.new, *([self.live] if self.live else [])]
        return sorted({topic for each in both for topic in topics_of(each.watch)})


def read_versions(rehearsal: Rehearsal, settings: AuditorSettings, folder: Path) -> Versions:
    """Read both versions by way of files in `folder`.

    Raises:
        BadDeclaration, Refused: the new version cannot be used; with the line where there is one.
    """
    new = _read(rehearsal.new, rehearsal.rules, settings, folder / "new")
    if rehearsal.live is None:
        return Versions(new)
    try:
        return Versions(new, _read(rehearsal.live, None, settings, folder / "live"))
    except (BadDeclaration, Refused) as error:
        return Versions(new, live_refused=str(error))


def _read(text: str, rules: str | None, settings: AuditorSettings, folder: Path) -> Declared:
    folder.mkdir()
    (folder / FILE).write_text(text)
    declared = parse_watch(text, FILE).rules
    if declared and rules is not None:
        (folder / declared.file).write_text(rules)
    elif declared and (settings.auditor_watches / declared.file).is_file():
        copyfile(settings.auditor_watches / declared.file, folder / declared.file)
    return read_watch(folder / FILE, load_streams(settings.auditor_streams))
