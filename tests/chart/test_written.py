"""What is made of the chart and of the code is as new as they are; `make docs` makes it again."""

from pathlib import Path

import pytest

from tests.chart import manual, topics, watches
from tests.chart.goldens import golden, rendering
from tests.chart.rendering import EXAMPLES, case_of, needs_helm


@needs_helm
@pytest.mark.parametrize("case", EXAMPLES, ids=case_of)
def test_each_example_makes_what_stands_beside_it(case: Path) -> None:
    assert rendering(case) == golden(case).read_text("utf-8"), "run `make docs`, look at the diff"


def test_the_readme_is_that_of_the_values() -> None:
    assert manual.page() == manual.PAGE.read_text("utf-8"), "run `make docs`"


def test_every_group_of_values_is_told_of() -> None:
    told = {each.path.split(".")[0] for each in manual.values(manual.text())}
    assert told >= set(manual.defaults()), "a comment `# -- ` before a value tells of it"


def test_the_topics_of_the_operator_are_those_of_the_code() -> None:
    assert topics.page() == topics.PAGE.read_text("utf-8"), "run `make docs`"


def test_the_watches_that_need_slots_are_those_of_the_code() -> None:
    assert watches.page() == watches.PAGE.read_text("utf-8"), "run `make docs`"
