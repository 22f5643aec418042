"""What is to run, by one reading of the folders, and how what runs comes there: pure decisions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from auditor.changes.change import Change, changes
from auditor.queries.declared import Declarations, Declared, Face


@dataclass(frozen=True, slots=True)
class Goal:
    """What an auditor works towards until the folders are read anew."""

    declarations: Declarations
    shuffle_partitions: int
    """How many parts this auditor's states have, which a declaration does not say."""

    def wants(self, declared: Declared) -> bool:
        """Tell whether just this is to run, and neither another declaration of its watch nor none.

        Tell by their faces: as Python compares, columns may change their places.
        """
        wanted = self.declarations.wanted().get(declared.name)
        return wanted is not None and self._face(wanted) == self._face(declared)

    def gone(self, running: Iterable[str]) -> list[str]:
        """Return which of these watches were removed or paused, as far as the files can be read."""
        return [name for name in running if not self.declarations.may_want(name)]

    def steps(self, running: Mapping[str, Declared]) -> list[Change]:
        """Return what has to be done where these run, the steps that free slots first."""
        wanted = self._faces(self.declarations.wanted())
        return changes(self._faces(running), wanted, self.gone(running))

    def _faces(self, declared: Mapping[str, Declared]) -> dict[str, Face]:
        return {name: self._face(one) for name, one in declared.items()}

    def _face(self, declared: Declared) -> Face:
        return declared.face(self.shuffle_partitions)
