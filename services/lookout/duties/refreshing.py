"""The duty that keeps what stands up to date; others come after it, so that they see it fresh."""

from collections.abc import Callable
from dataclasses import dataclass

from services.lookout.circumstances import Circumstances
from services.lookout.routing import Routes


@dataclass(frozen=True)
class Refreshing:
    """Reads silences and inhibitors anew."""

    circumstances: Circumstances
    routes: Callable[[], Routes]
    name: str = "refreshing"

    def do(self) -> int:
        """Read them once.

        Raises:
            Transient: Postgres is away; what stood before still does.
        """
        self.circumstances.refresh(self.routes())
        return 0
