"""The watches as their files declare them; a file that is wrong hides no other."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from services.contracts.declarations import BadDeclaration, by_name, unread_in
from services.contracts.watches import WatchDeclaration, load_watch

FILES_LIMIT: Final = 500


@dataclass(frozen=True)
class Shelf:
    """Watches by name, and what is wrong with the other files."""

    watches: dict[str, WatchDeclaration]
    problems: tuple[str, ...]
    files: dict[str, Path]
    """Where each watch stands."""


@dataclass(frozen=True)
class WatchShelf:
    """Reads the folder each time it is asked: it is small, and always as the auditors see it."""

    folder: Path

    def all(self) -> Shelf:
        """Return every watch, by name."""
        read: dict[str, WatchDeclaration] = {}
        problems = list(unread_in(self.folder).values())
        for path in sorted(self.folder.glob("*.yaml"))[:FILES_LIMIT]:
            try:
                read[path.name] = load_watch(path)
            except BadDeclaration as error:
                problems.append(str(error))
        watches, twice = by_name(read, "watch", lambda declared: declared.watch)
        used = ((each.watch, file) for file, each in read.items() if file not in twice)
        files = {name: self.folder / file for name, file in used}
        return Shelf(dict(sorted(watches.items())), (*problems, *twice.values()), files)

    def one(self, name: str) -> WatchDeclaration | None:
        """Return one watch, or None; alerts may be of watches that are gone."""
        return self.all().watches.get(name)

    def text(self, name: str) -> str | None:
        """Return the file of one watch as it stands, or None if no file declares it."""
        path = self.all().files.get(name)
        try:
            return path.read_text() if path else None
        except OSError:
            return None
