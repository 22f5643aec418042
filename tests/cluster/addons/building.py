"""From a Go module to an image on the nodes: fetched, held against its sum, built, loaded.

The module's tree is copied and built as its own main module, so that its go.sum and its replace
directives hold; what the module cache has is never changed.
"""

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from services.machine.problems import MachineProblem
from tests.cluster.addons.addon import Addon

DOCKERFILE: Final = Path(__file__).with_name("addon.Dockerfile")
GO_ENVIRONMENT: Final = {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off"}
"""Static programs, by the Go that is there: no other is fetched."""


@dataclass(frozen=True)
class Workshop:
    """Where add-ons are built, and with what."""

    folder: Path
    go: str
    docker_build: tuple[str, ...] = ()
    """Further options of `docker build`."""
    load: tuple[str, ...] = ()
    """The command that brings an image to the nodes; nothing does where it is empty."""

    @classmethod
    def of(cls, environment: Mapping[str, str], root: Path) -> "Workshop":
        """Return the one that ALDEBARAN_TOOLS, DOCKER_BUILD and LOAD describe.

        Raises:
            MachineProblem: there is no Go.
        """
        tools = root / environment.get("ALDEBARAN_TOOLS", ".tools")
        own = tools / "chart" / "bin" / "go"
        go = shutil.which("go", path=environment.get("PATH")) or (str(own) if own.exists() else "")
        if not go:
            raise MachineProblem("no Go on the PATH: `make chart-tools` installs one")
        split = {name: shlex.split(environment.get(name, "")) for name in ("DOCKER_BUILD", "LOAD")}
        return cls(tools / "addons", go, tuple(split["DOCKER_BUILD"]), tuple(split["LOAD"]))

    def of_addon(self, addon: Addon) -> Path:
        """Return an add-on's own folder in it."""
        return self.folder / f"{addon.name}-{addon.version}"

    def tree(self, addon: Addon) -> Path:
        """Return where the module's files are while it is built."""
        return self.of_addon(addon) / "source"

    def image(self, addon: Addon) -> Path:
        """Return where the files of its image are."""
        return self.of_addon(addon) / "image"


def build(workshop: Workshop, addon: Addon) -> None:
    """Build an add-on's image and bring it to the nodes.

    Raises:
        MachineProblem: the module is not what its sum says, or a step fails.
    """
    unpack(workshop, addon)
    for command in go_commands(workshop, addon):
        _do(command, workshop.tree(addon), GO_ENVIRONMENT)
    _do(image_command(workshop, addon), workshop.of_addon(addon))
    if workshop.load:
        _do([*workshop.load, addon.image], workshop.of_addon(addon))


def unpack(workshop: Workshop, addon: Addon) -> Path:
    """Fetch a module, hold it against its sum and copy its files once; return where they are.

    Raises:
        MachineProblem: the module cannot be had, or is not what its sum says.
    """
    tree = workshop.tree(addon)
    asked = [workshop.go, "mod", "download", "-json", addon.source]
    told = subprocess.run(
        asked, capture_output=True, text=True, check=False, env=os.environ | GO_ENVIRONMENT
    )
    fetched = checked(addon, json.loads(told.stdout or "{}"), told.stderr)
    if not tree.exists():
        half = tree.with_name("source.half")
        shutil.rmtree(half, ignore_errors=True)
        # A vendor folder is only partly in a module's zip, and Go would build from it.
        ignored = shutil.ignore_patterns("vendor")
        shutil.copytree(fetched, half, ignore=ignored, copy_function=shutil.copyfile)
        for folder in (half, *(each for each in half.rglob("*") if each.is_dir())):
            folder.chmod(0o755)
        half.rename(tree)
    return tree


def checked(addon: Addon, told: Mapping[str, Any], complaint: str) -> Path:
    """Return where Go put the module, if it is the pinned one.

    Raises:
        MachineProblem: it is not, or Go could not have it.
    """
    if why := told.get("Error") or (complaint if "Sum" not in told else ""):
        raise MachineProblem(f"{addon.source} cannot be had: {why.strip()}")
    if told["Sum"] != addon.h1:
        raise MachineProblem(
            f"{addon.source} is not the pinned one: its sum is {told['Sum']}, and"
            f" tests/cluster/addons says {addon.h1}; where the version was changed on purpose,"
            " change both"
        )
    return Path(told["Dir"])


def go_commands(workshop: Workshop, addon: Addon) -> list[list[str]]:
    """Return the commands that build its programs, each to its place in the image."""
    flags = " ".join(["-s", "-w", *(f"-X {name}={to}" for name, to in addon.linked.items())])
    return [
        [
            *(workshop.go, "build", "-mod=readonly", "-trimpath", "-buildvcs=false"),
            *("-ldflags", flags, "-o", str(workshop.image(addon) / place.lstrip("/")), package),
        ]
        for place, package in addon.programs.items()
    ]


def image_command(workshop: Workshop, addon: Addon) -> list[str]:
    """Return the command that makes its image."""
    told = {
        **({"BASE": addon.base} if addon.base else {}),
        "ENTRY": next(iter(addon.programs)),
        "PACKAGES": " ".join(addon.packages),
        "RUN_AS": str(addon.user),
    }
    arguments = [text for name in told for text in ("--build-arg", f"{name}={told[name]}")]
    return [
        *("docker", "build", *workshop.docker_build, *arguments),
        *("-t", addon.image, "-f", str(DOCKERFILE), str(workshop.image(addon))),
    ]


def _do(command: Sequence[str], folder: Path, more: Mapping[str, str] | None = None) -> None:
    made = subprocess.run(command, cwd=folder, check=False, env=os.environ | (more or {}))
    if made.returncode:
        raise MachineProblem(f"{' '.join(command[:3])} … {command[-1]} failed; it says why above")
