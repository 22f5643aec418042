"""What is known of an add-on of a test cluster: somebody else's program, built here from source."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from tests.cluster.addons.workshop import Workshop

REPOSITORY: Final = "aldebaran-test"
"""Whose the images are, so that nobody takes them for the add-on's own."""


class Origin(Protocol):
    """Where an add-on's files are had, and what makes programs of them."""

    @property
    def version(self) -> str:
        """The one that is pinned."""

    @property
    def entry(self) -> str:
        """What its image starts."""

    def fetch(self, workshop: Workshop, tree: Path) -> None:
        """Put the pinned files there, unless they are; refuse all others.

        Raises:
            MachineProblem: they cannot be had, or are not the pinned ones.
        """

    def make(self, workshop: Workshop, tree: Path, image: Path) -> None:
        """Build in that tree, and put what runs to its places below `image`.

        Raises:
            MachineProblem: a step fails.
        """


@dataclass(frozen=True)
class Addon:
    """Somebody's program of which one image is made; all that its manifests start is in it."""

    name: str
    origin: Origin
    manifests: str
    """Where in its tree its chart, kustomization or manifests lie."""
    install: Callable[["Addon", Path], None] = field(repr=False, compare=False)
    """Applies them, the images replaced by ours, and waits until all is ready; takes their path."""
    base: str = ""
    """Image that its own is built on, where it starts what is in it; empty: Debian."""
    packages: tuple[str, ...] = ()
    """Debian packages whose programs it starts."""
    remove: Callable[["Addon", Path], None] | None = field(default=None, repr=False, compare=False)
    """Takes all of it away again, where it may not stay in a cluster that others use too."""
    user: int = 65532
    """Whom it runs as, where its manifests say nothing."""
    folder: str = ""
    """The folder in its image that its manifests start it in; empty: where the base image does."""

    @property
    def version(self) -> str:
        """The version that is built."""
        return self.origin.version

    @property
    def image(self) -> str:
        """The image's name with its tag."""
        return f"{REPOSITORY}/{self.name}:{self.version}"
