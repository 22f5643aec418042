"""The example in docs/silences.md is a routes file that can be used."""

import re
from pathlib import Path

from services.lookout.routes.reading import read_routes

DOCUMENT = Path(__file__).parents[3] / "docs" / "silences.md"


def test_the_example_can_be_used() -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    (example,) = blocks
    routes = read_routes(example, ("email", "bus"), {})
    assert [each.name for each in routes.silences] == ["hall-works", "weekly-restart"]
    assert [each.name for each in routes.inhibitions] == ["worst-first"]
    (told,) = routes.roots[0].instructions
    assert told.quiet is not None
    assert told.grouping is not None
