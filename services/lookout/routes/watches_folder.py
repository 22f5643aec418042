"""The folder of declared watches, as far as it can be read, beside the routes that name them."""

from pathlib import Path

from services.contracts.declarations import BadDeclaration, digest_of
from services.contracts.records import Severity
from services.contracts.watches import SeverityColumn, WatchDeclaration, load_watches
from services.lookout.routes.watches import Raised, Watches


class WatchesFolder:
    """Reads declared watches, and tells whether their files have changed since.

    `are_all`: no other watches run.
    """

    def __init__(self, folder: Path, *, are_all: bool) -> None:
        self._folder = folder
        self._are_all = are_all
        self._seen = ""

    def read(self) -> Watches:
        """Return the watches as they are declared now.

        Raises:
            BadDeclaration: a file is wrong, or there is none.
        """
        self._seen = self._digest()
        declared = load_watches(self._folder)
        return Watches({name: _raised(each) for name, each in declared.items()}, self._are_all)

    def known(self) -> Watches | None:
        """Return the watches, or None where it is not known which there are."""
        try:
            return self.read()
        except (BadDeclaration, OSError):
            return None

    def changed(self) -> bool:
        """Tell whether any file of them is different from what was read."""
        return self._digest() != self._seen

    def _digest(self) -> str:
        return digest_of(self._folder, kinds=(".yaml",))


def _raised(declared: WatchDeclaration) -> Raised:
    severity = declared.severity
    severities = tuple(Severity) if isinstance(severity, SeverityColumn) else (severity,)
    return Raised(declared.labels, declared.key, severities)
