"""Programs of a git repository in Java, built by Maven, whatever they are built by at home.

Maven is told by a file of ours, which pins what the repository's own build does.
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from services.machine.problems import MachineProblem
from tests.cluster.addons.workshop import Workshop, do, needed, once
from tests.cluster.kubectl import run

NO_MAVEN: Final = "no Maven on the PATH: apt-get install maven"


@dataclass(frozen=True)
class MavenTree:
    """A repository at a commit, how it is built, and what of it is wanted."""

    repository: str
    version: str
    """The tag that is fetched."""
    commit: str
    """What the tag must be; git itself holds the files against it."""
    build: Path
    """Our file for Maven, which is put beside the repository's."""
    files: Mapping[str, str]
    """Where a file or folder lies in the image, and in the tree once it is built; the first is
    started."""

    @property
    def entry(self) -> str:
        """What its image starts."""
        return next(iter(self.files))

    def fetch(self, workshop: Workshop, tree: Path) -> None:
        """Fetch the tag once, and hold it against its commit.

        Raises:
            MachineProblem: the tag cannot be had, or is another commit.
        """
        address = workshop.source or self.repository
        tree.parent.mkdir(parents=True, exist_ok=True)
        once(tree, lambda half: checked_out(address, self.version, half))
        found = run(("git", "-C", str(tree), "rev-parse", "HEAD")).strip()
        if found != self.commit:
            raise MachineProblem(
                f"{address} {self.version} is not the pinned one: it is commit {found}, and"
                f" tests/cluster/addons says {self.commit}; where the version was changed on"
                f" purpose, change both and remove {tree}"
            )

    def make(self, workshop: Workshop, tree: Path, image: Path) -> None:
        """Have Maven build it and copy what is wanted.

        Raises:
            MachineProblem: Maven is not there, or fails.
        """
        maven = needed(workshop.maven, NO_MAVEN)
        shutil.copyfile(self.build, tree / "pom.xml")
        do([maven, "-B", "-q", "clean", "package"], tree)
        for place, path in self.files.items():
            put(tree / path, image / place.lstrip("/"))


def checked_out(address: str, tag: str, folder: Path) -> None:
    """Make a work tree of a repository's tag.

    Raises:
        MachineProblem: git cannot have it.
    """
    run(("git", "init", "--quiet", str(folder)))
    git = ("git", "-C", str(folder))
    run((*git, "fetch", "--quiet", "--depth=1", address, f"refs/tags/{tag}"))
    run((*git, "checkout", "--quiet", "--detach", "FETCH_HEAD"))


def put(path: Path, place: Path) -> None:
    """Copy a file or a folder to its place, in place of what is there."""
    shutil.rmtree(place, ignore_errors=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        shutil.copytree(path, place)
    else:
        shutil.copy(path, place)
