"""What is known of an add-on of a test cluster: somebody else's program, built here from source."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

REPOSITORY: Final = "aldebaran-test"
"""Whose the images are, so that nobody takes them for the add-on's own."""


@dataclass(frozen=True)
class Addon:
    """A Go module of which one image is made; all that its manifests start is in it."""

    name: str
    module: str
    version: str
    h1: str
    """The module zip's sum, as go.sum spells it."""
    programs: Mapping[str, str]
    """Where a program lies in the image, and its package in the module; the first is started."""
    manifests: str
    """Where in the module's tree its chart, kustomization or manifests lie."""
    install: Callable[["Addon", Path], None] = field(repr=False, compare=False)
    """Applies them, the images replaced by ours, and waits until all is ready; takes their path."""
    linked: Mapping[str, str] = field(default_factory=dict)
    """Variables of the program that the linker sets, as its version."""
    base: str = ""
    """Image that its own is built on, where it starts what is in it; empty: Debian."""
    packages: tuple[str, ...] = ()
    """Debian packages whose programs it starts."""
    remove: Callable[["Addon", Path], None] | None = field(default=None, repr=False, compare=False)
    """Takes all of it away again, where it may not stay in a cluster that others use too."""
    user: int = 65532
    """Whom it runs as, where its manifests say nothing."""

    @property
    def image(self) -> str:
        """The image's name with its tag."""
        return f"{REPOSITORY}/{self.name}:{self.version}"

    @property
    def source(self) -> str:
        """Module and version as Go spells them."""
        return f"{self.module}@{self.version}"
