"""docs/metrics.md has every metric that the code defines, in the words of the code."""

import re

import pytest

from tests.metrics import PAGE, PREFIX, SOURCES, metrics, with_made, with_table
from tests.tidy.test_tidy import ROOT

SCRAPED = {"job", "instance", "namespace", "pod", "container", "service", "endpoint"}
"""Labels that Prometheus and its operator set; one of ours would become `exported_…`."""


def test_the_page_has_every_metric_as_it_is_defined() -> None:
    page = PAGE.read_text("utf-8")
    assert page == with_table(page, metrics()), "run: make docs"


def test_a_page_that_has_no_place_for_what_is_made_is_refused() -> None:
    with pytest.raises(ValueError, match="needs the lines"):
        with_made("# Metrics\n", "")


def test_no_definition_is_overlooked() -> None:
    """Whatever looks like a metric's name in the code is on the page."""
    known = {each.name for each in metrics()}
    assert len(known) > 60
    name = re.compile(rf'\(\s*"({PREFIX}[a-z0-9_]+)",\s*\n?\s*"')
    for source in SOURCES:
        for file in (ROOT / source).rglob("*.py"):
            named = set(name.findall(file.read_text("utf-8")))
            assert {each for each in named if not {each, f"{each}_total"} & known} == set(), file


def test_names_carry_their_unit_and_are_used_once() -> None:
    names = [each.name for each in metrics()]
    assert len(set(names)) == len(names)
    wrong = [
        each.name for each in metrics() if each.kind == "counter" and "_total" not in each.name
    ]
    assert wrong == []
    assert [name for name in names if not name.startswith(PREFIX)] == []


def test_no_label_is_one_that_whoever_scrapes_sets() -> None:
    assert [each.name for each in metrics() if SCRAPED & set(each.labels)] == []
