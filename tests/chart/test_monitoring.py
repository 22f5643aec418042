"""Rules and boards: those of several releases keep apart, and they know how the release runs."""

import json
import re

import pytest

from tests.chart.rendering import CASES, Object, needs_helm, rendered, setting
from tests.chart.test_chart_agrees_with_code import METRIC

pytestmark = needs_helm

SELECTED = re.compile(r'aldebaran_[a-z_]+\{namespace=(~?"[^"]+")')
WITH_RULES = ("-n", "desk", *CASES["full"])


def rules(*arguments: str) -> dict[str, Object]:
    """Return the alerting rules that the chart makes, by name."""
    return {
        rule["alert"]: rule
        for made in rendered(*arguments)
        if made["kind"] == "PrometheusRule"
        for group in made["spec"]["groups"]
        for rule in group["rules"]
    }


def assert_only_of(selector: str, expression: str) -> None:
    """Check that an expression takes no metric without this selector of its namespace."""
    assert SELECTED.findall(expression) == [selector] * len(METRIC.findall(expression))


def test_rules_look_at_their_own_namespace_and_name_it() -> None:
    made = rules(*WITH_RULES)
    assert {"AldebaranGatewayAway", "AldebaranEventsNeverRead"} <= made.keys()
    for rule in made.values():
        assert_only_of('"desk"', rule["expr"])
        assert rule["labels"]["namespace"] == "desk"


def test_rules_link_to_their_page_where_the_address_of_the_pages_is_given() -> None:
    made = rules(*WITH_RULES)
    assert not [name for name in made if "runbook_url" in made[name]["annotations"]]
    pages = "https://git.example.com/aldebaran/blob/main"
    for given in (pages, f"{pages}/"):
        made = rules(*WITH_RULES, *setting(f"monitoring.rules.runbookUrl={given}"))
        for rule in made.values():
            told = rule["annotations"]
            assert told["runbook_url"] == f"{pages}/{told['read']}"


@pytest.mark.parametrize(("batch", "still"), [(120, 600), (900, 1800), (3600, 7200)])
def test_a_watch_stands_still_when_two_batches_are_over(batch: int, still: int) -> None:
    made = rules(*WITH_RULES, *setting(f"auditor.batchSeconds={batch}"))
    assert made["AldebaranWatchStandsStill"]["expr"].endswith(f"> {still}")


@pytest.mark.parametrize(("interval", "still"), [(60, 1800), (3600, 10800), (86400, 259200)])
def test_an_archive_stands_still_when_three_rounds_are_over(interval: int, still: int) -> None:
    made = rules(*WITH_RULES, *setting(f"archivist.intervalSeconds={interval}"))
    assert made["AldebaranArchiveStandsStill"]["expr"].endswith(f"> {still}")


def test_boards_look_at_the_namespace_that_is_chosen() -> None:
    boards = [
        json.loads(text)
        for made in rendered(*WITH_RULES)
        if made["kind"] == "ConfigMap"
        for name, text in made["data"].items()
        if name.endswith(".json")
    ]
    assert len(boards) >= 5
    for board in boards:
        assert "namespace" in {each["name"] for each in board["templating"]["list"]}
        for target in (target for panel in board["panels"] for target in panel["targets"]):
            assert_only_of('~"$namespace"', target["expr"])
