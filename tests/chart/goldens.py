"""`python -m tests.chart.goldens`: renders every example and writes what came of it beside it."""

import re
import sys
from pathlib import Path
from typing import Final

from tests.chart.rendering import EXAMPLES, text_of

MADE_AT_INSTALL: Final = "made-at-install"
_SECRETS: Final = (
    (re.compile(r"(aldebaran_simulator_api_key|operator-key): aldebaran_\w+"), r"\1: {}"),
    (re.compile(r"sha256: [0-9a-f]{64}"), "sha256: {}"),
    (re.compile(r'(password): "\w{24,32}"'), r"\1: {}"),
    (re.compile(r"(://aldebaran):\w{32}@"), r"\1:{}@"),
    (re.compile(r'(\{\\"first\\":)\\"\w{43}\\"'), r"\1\\\\\"{}\\\\\""),
)
"""What differs from one rendering to the next, as it is drawn by chance."""


def golden(case: Path) -> Path:
    """Return where an example's rendering is kept."""
    return case.with_name("rendered.yaml")


def rendering(case: Path) -> str:
    """Return what an example makes, without what chance has made."""
    text = text_of("-f", str(case))
    for drawn, kept in _SECRETS:
        text = drawn.sub(kept.replace("{}", MADE_AT_INSTALL), text)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def main() -> int:
    """Write all renderings."""
    for case in EXAMPLES:
        golden(case).write_text(rendering(case), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
