"""What the README says of the reports that count is what they say."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = " ".join((ROOT / "README.md").read_text("utf-8").split())
RIGHT = re.compile(r"\*\*(\d+) of (\d+) cells came out right")


def report(name: str) -> str:
    return (ROOT / "docs" / "reports" / f"{name}.md").read_text("utf-8")


@pytest.mark.parametrize("name", ["chaos", "cluster"])
def test_as_many_cells_came_out_right_as_the_readme_says(name: str) -> None:
    told = RIGHT.search(report(name))
    assert told, f"docs/reports/{name}.md does not say how many cells came out right"
    assert re.search(rf"reports/{name}\.md\)[^.;]*\b{told[1]} of {told[2]} cells right", README)


def test_the_matrix_has_as_many_cells_as_the_readme_says() -> None:
    told = re.search(r"\. (\d+) cells, ", report("matrix"))
    assert told
    assert f"reports/matrix.md), {told[1]} cells" in README
