"""`python -m tests.chart.watches`: writes which watches the image has, for counting slots."""

import sys
from typing import Final

import yaml

from services.contracts.watches import SHIPPED_WATCHES, load_watches
from tests.chart.rendering import CHART

PAGE: Final = CHART / "files" / "watches.yaml"
HEAD: Final = "# Made of the code by `make docs`: the watches in the image, and what each reads.\n"


def page() -> str:
    """Return the file's text; a watch that is paused needs no slots."""
    listed = [
        {"watch": watch.watch, "streams": list(watch.streams)}
        for watch in load_watches(SHIPPED_WATCHES).values()
        if not watch.paused
    ]
    return HEAD + yaml.safe_dump({"watches": listed})


def main() -> int:
    """Write the file."""
    PAGE.write_text(page(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
