"""Where add-ons are built, with what, and what every builder does alike."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from services.machine.problems import MachineProblem


@dataclass(frozen=True)
class Workshop:
    """A folder and the tools on this machine; one that is not there is empty."""

    folder: Path
    go: str = ""
    maven: str = ""
    docker_build: tuple[str, ...] = ()
    """Further options of `docker build`."""
    load: tuple[str, ...] = ()
    """The command that brings an image to the nodes; nothing does where it is empty."""
    source: str = ""
    """A clone that is asked in place of a git repository's own address."""

    @classmethod
    def of(cls, environment: Mapping[str, str], root: Path) -> "Workshop":
        """Return the one that ALDEBARAN_TOOLS, PATH, DOCKER_BUILD, LOAD and SOURCE describe."""
        tools = root / environment.get("ALDEBARAN_TOOLS", ".tools")
        own = tools / "chart" / "bin" / "go"
        path = environment.get("PATH")
        split = {name: shlex.split(environment.get(name, "")) for name in ("DOCKER_BUILD", "LOAD")}
        return cls(
            tools / "addons",
            shutil.which("go", path=path) or (str(own) if own.exists() else ""),
            shutil.which("mvn", path=path) or "",
            tuple(split["DOCKER_BUILD"]),
            tuple(split["LOAD"]),
            environment.get("SOURCE", ""),
        )


def needed(tool: str, otherwise: str) -> str:
    """Return a tool of the workshop.

    Raises:
        MachineProblem: it is not there; the message is how to get it.
    """
    if not tool:
        raise MachineProblem(otherwise)
    return tool


def do(command: Sequence[str], folder: Path, more: Mapping[str, str] | None = None) -> None:
    """Run a command whose output is for whoever builds.

    Raises:
        MachineProblem: it fails.
    """
    made = subprocess.run(command, cwd=folder, check=False, env=os.environ | (more or {}))
    if made.returncode:
        raise MachineProblem(f"{' '.join(command[:3])} … {command[-1]} failed; it says why above")


def once(folder: Path, fill: Callable[[Path], None]) -> None:
    """Fill a folder unless it is there; one that is only half filled is never taken for it."""
    if folder.exists():
        return
    half = folder.with_name(f"{folder.name}.half")
    shutil.rmtree(half, ignore_errors=True)
    fill(half)
    half.rename(folder)
