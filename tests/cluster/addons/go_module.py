"""Programs of a Go module: fetched, held against its sum, built.

The module's tree is copied and built as its own main module, so that its go.sum and its replace
directives hold; what the module cache has is never changed.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from services.machine.problems import MachineProblem
from tests.cluster.addons.workshop import Workshop, do, needed, once

ENVIRONMENT: Final = {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off"}
"""Static programs, by the Go that is there: no other is fetched."""
NO_GO: Final = "no Go on the PATH: `make chart-tools` installs one"


@dataclass(frozen=True)
class GoModule:
    """A module and those of its programs that are wanted."""

    module: str
    version: str
    h1: str
    """The module zip's sum, as go.sum spells it."""
    programs: Mapping[str, str]
    """Where a program lies in the image, and its package in the module; the first is started."""
    linked: Mapping[str, str] = field(default_factory=dict)
    """Variables of the program that the linker sets, as its version."""

    @property
    def entry(self) -> str:
        """What its image starts."""
        return next(iter(self.programs))

    @property
    def source(self) -> str:
        """Module and version as Go spells them."""
        return f"{self.module}@{self.version}"

    def fetch(self, workshop: Workshop, tree: Path) -> None:
        """Have Go fetch it, hold it against its sum and copy its files once.

        Raises:
            MachineProblem: the module cannot be had, or is not what its sum says.
        """
        asked = [needed(workshop.go, NO_GO), "mod", "download", "-json", self.source]
        told = subprocess.run(
            asked, capture_output=True, text=True, check=False, env=os.environ | ENVIRONMENT
        )
        fetched = self.checked(json.loads(told.stdout or "{}"), told.stderr)
        once(tree, lambda half: copied(fetched, half))

    def checked(self, told: Mapping[str, Any], complaint: str) -> Path:
        """Return where Go put the module, if it is the pinned one.

        Raises:
            MachineProblem: it is not, or Go could not have it.
        """
        if why := told.get("Error") or (complaint if "Sum" not in told else ""):
            raise MachineProblem(f"{self.source} cannot be had: {why.strip()}")
        if told["Sum"] != self.h1:
            raise MachineProblem(
                f"{self.source} is not the pinned one: its sum is {told['Sum']}, and"
                f" tests/cluster/addons says {self.h1}; where the version was changed on purpose,"
                " change both"
            )
        return Path(told["Dir"])

    def make(self, workshop: Workshop, tree: Path, image: Path) -> None:
        """Build its programs.

        Raises:
            MachineProblem: one cannot be built.
        """
        for command in self.commands(workshop, image):
            do(command, tree, ENVIRONMENT)

    def commands(self, workshop: Workshop, image: Path) -> list[list[str]]:
        """Return the commands that build its programs, each to its place in the image."""
        flags = " ".join(["-s", "-w", *(f"-X {name}={to}" for name, to in self.linked.items())])
        return [
            [
                *(workshop.go, "build", "-mod=readonly", "-trimpath", "-buildvcs=false"),
                *("-ldflags", flags, "-o", str(image / place.lstrip("/")), package),
            ]
            for place, package in self.programs.items()
        ]


def copied(module: Path, half: Path) -> None:
    """Copy a module to where it can be written."""
    # A vendor folder is only partly in a module's zip, and Go would build from it.
    ignored = shutil.ignore_patterns("vendor")
    shutil.copytree(module, half, ignore=ignored, copy_function=shutil.copyfile)
    for folder in (half, *(each for each in half.rglob("*") if each.is_dir())):
        folder.chmod(0o755)
