"""docs/alarms.md has every rule of Prometheus in its words, and each leads to a page."""

import re

import pytest

from tests.alarms import PAGE, Rule, link, page, rules, titles
from tests.tidy.test_tidy import ROOT


def test_the_page_has_every_rule_as_it_is_written() -> None:
    written = PAGE.read_text("utf-8")
    assert written == page(written), "run: make docs"
    assert written.count("\n**Read:** ") == len(rules()) >= 31


def test_names_are_used_once() -> None:
    names = [rule["alert"] for rule in rules()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule["alert"])
def test_a_rule_says_what_to_read_and_it_exists(rule: Rule) -> None:
    read = rule["annotations"]["read"]
    assert re.fullmatch(r"docs/[\w-]+\.md#[\w-]+", read), "page and heading: docs/page.md#heading"
    document, anchor = read.split("#")
    assert (ROOT / document).is_file()
    assert anchor in titles(ROOT / document), f"{document} has no such heading: {anchor}"
    assert f"]({read.removeprefix('docs/')})" in link(read)


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule["alert"])
def test_the_page_can_say_how_long_it_holds_and_how_severe_it_is(rule: Rule) -> None:
    assert re.fullmatch(r"[1-9]\d*m", rule.get("for", "1m"))
    assert rule["labels"]["severity"] in {"critical", "warning"}


def test_nothing_is_left_on_the_page_that_only_prometheus_reads() -> None:
    assert not re.findall(r"\{\{|\$\w|\bCHANNEL\b", PAGE.read_text("utf-8"))
