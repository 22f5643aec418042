"""Executors as pods: how many a drain may take, and what memory they ask for."""

import json

import pytest

from tests.chart.rendering import APART, environment, needs_helm, pods, rendered, setting

pytestmark = needs_helm


@pytest.mark.parametrize(("count", "stay"), [(1, 1), (3, 5)])
def test_a_drain_takes_one_executor_of_both_auditors(count: int, stay: int) -> None:
    made = rendered(*APART, *setting(f"auditor.executors.count={count}"))
    (budget,) = (
        each
        for each in made
        if each["kind"] == "PodDisruptionBudget" and each["metadata"]["name"].endswith("executors")
    )
    assert budget["spec"]["minAvailable"] == stay


OVERHEAD = "spark.executor.memoryOverhead"
STATE = "auditor.settings.auditor_state_memory_mebibytes"


def options(*told: str) -> dict[str, str]:
    """Return what the first auditor's driver tells Spark."""
    made = rendered(*APART, *setting(*told))
    (driver,) = pods(made)["t-aldebaran-auditor-a"]["containers"]
    read: dict[str, str] = json.loads(environment(driver)["ALDEBARAN_AUDITOR_SPARK_OPTIONS"])
    return read


def test_executors_ask_for_the_memory_of_their_state_too() -> None:
    assert options(f"{STATE}=1024")[OVERHEAD] == "1280m"
    assert options("settings.auditor_state_memory_mebibytes=1024")[OVERHEAD] == "1280m"


@pytest.mark.parametrize("told", [[], [f"{STATE}=1024", "auditor.executors.memory=16g"]])
def test_executors_ask_for_what_spark_says_where_that_is_enough(told: list[str]) -> None:
    assert OVERHEAD not in options(*told)


def test_sparks_own_option_has_the_last_word_on_memory() -> None:
    own = r"auditor.sparkOptions.spark\.executor\.memoryOverhead=2g"
    assert options(f"{STATE}=1024", own)[OVERHEAD] == "2g"
