"""`python -m tests.cluster.addons build|install NAME…`: `make cluster-addons` calls both."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from services.machine.problems import MachineProblem
from tests.cluster.addons.building import Workshop, build, unpack
from tests.cluster.addons.table import named

ROOT: Final = Path(__file__).parents[3]
DEEDS: Final = ("build", "install")


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
            else:
                addon.install(addon, unpack(workshop, addon) / addon.manifests)
            sys.stderr.write(f"cluster-addons: {deed} {addon.name} {addon.version}: done\n")
    except MachineProblem as problem:
        return f"cluster-addons: {problem}"
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
