"""`python -m tests.cluster.addons build|install|remove NAME…`: what `make cluster-addons` calls."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from services.machine.problems import MachineProblem
from tests.cluster.addons.building import build, unpack
from tests.cluster.addons.table import named
from tests.cluster.addons.workshop import Workshop

ROOT: Final = Path(__file__).parents[3]
DEEDS: Final = ("build", "install", "remove")


def main(arguments: Sequence[str]) -> str | None:
    """Do what was asked for with each add-on; return what went wrong, if anything did."""
    deed, *names = arguments or ("",)
    if deed not in DEEDS:
        return f"cluster-addons: say what to do: {' or '.join(DEEDS)}"
    try:
        workshop = Workshop.of(os.environ, ROOT)
        for addon in named(names):
            if deed == "build":
                build(workshop, addon)
            elif deed == "install":
                addon.install(addon, unpack(workshop, addon) / addon.manifests)
            elif addon.remove:
                addon.remove(addon, unpack(workshop, addon) / addon.manifests)
            else:
                raise MachineProblem(f"{addon.name} cannot be removed: take the cluster down")
            sys.stderr.write(f"cluster-addons: {deed} {addon.name} {addon.version}: done\n")
    except MachineProblem as problem:
        return f"cluster-addons: {problem}"
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
