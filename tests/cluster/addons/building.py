"""From an add-on's source to an image on the nodes: fetched, held to its pin, built, loaded."""

from pathlib import Path
from typing import Final

from tests.cluster.addons.addon import Addon
from tests.cluster.addons.workshop import Workshop, do

DOCKERFILE: Final = Path(__file__).with_name("addon.Dockerfile")


def folder_of(workshop: Workshop, addon: Addon) -> Path:
    """Return an add-on's own folder in the workshop."""
    return workshop.folder / f"{addon.name}-{addon.version}"


def image_of(workshop: Workshop, addon: Addon) -> Path:
    """Return where the files of its image are."""
    return folder_of(workshop, addon) / "image"


def build(workshop: Workshop, addon: Addon) -> None:
    """Build an add-on's image and bring it to the nodes.

    Raises:
        MachineProblem: the source is not the pinned one, or a step fails.
    """
    tree = unpack(workshop, addon)
    addon.origin.make(workshop, tree, image_of(workshop, addon))
    do(image_command(workshop, addon), folder_of(workshop, addon))
    if workshop.load:
        do([*workshop.load, addon.image], folder_of(workshop, addon))


def unpack(workshop: Workshop, addon: Addon) -> Path:
    """Return where the add-on's files are, those of the pinned version.

    Raises:
        MachineProblem: they cannot be had, or are not the pinned ones.
    """
    tree = folder_of(workshop, addon) / "source"
    addon.origin.fetch(workshop, tree)
    return tree


def image_command(workshop: Workshop, addon: Addon) -> list[str]:
    """Return the command that makes its image."""
    told = {
        **({"BASE": addon.base} if addon.base else {}),
        **({"FOLDER": addon.folder} if addon.folder else {}),
        "ENTRY": addon.origin.entry,
        "PACKAGES": " ".join(addon.packages),
        "RUN_AS": str(addon.user),
    }
    arguments = [text for name in told for text in ("--build-arg", f"{name}={told[name]}")]
    return [
        *("docker", "build", *workshop.docker_build, *arguments),
        *("-t", addon.image, "-f", str(DOCKERFILE), str(image_of(workshop, addon))),
    ]
