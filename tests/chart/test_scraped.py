"""What boards and rules ask for comes from a program that the `full` example lets be scraped."""

from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.chart.rendering import CHART, Object, needs_helm, rendered
from tests.chart.test_chart_agrees_with_code import board_files, metrics_named
from tests.metrics import metrics

pytestmark = needs_helm

FULL = CHART / "examples" / "full" / "values.yaml"
FILES = [*board_files(), *sorted((CHART / "files" / "rules").rglob("*.yaml"))]
LIBRARIES = {"backbone", "engine"}
"""Parts that are in several programs, whose metrics come from each of them."""


@cache
def owned() -> frozenset[tuple[str, str]]:
    """Return each metric with each program that has it."""
    return frozenset((each.name, each.component) for each in metrics())


def owners(metric: str) -> set[str]:
    """Return the programs that have a metric."""
    return {program for name, program in owned() if name == metric}


def selected(objects: list[Object], kind: str, labels: dict[str, str]) -> list[Object]:
    """Return the objects of a kind whose labels hold these."""
    return [
        each
        for each in objects
        if each["kind"] == kind and labels.items() <= each["metadata"]["labels"].items()
    ]


def scraped(objects: list[Object]) -> list[Object]:
    """Return what makes the pods that a ServiceMonitor finds, once for each way that leads there.

    A way is a Service with the monitor's labels and its port.
    """
    found = []
    for monitor in (each for each in objects if each["kind"] == "ServiceMonitor"):
        (endpoint,) = monitor["spec"]["endpoints"]
        for service in selected(objects, "Service", monitor["spec"]["selector"]["matchLabels"]):
            if endpoint["port"] in {port["name"] for port in service["spec"]["ports"]}:
                found += makers(objects, service["spec"]["selector"])
    return found


def makers(objects: list[Object], labels: dict[str, str]) -> list[Object]:
    """Return what makes the pods that have these labels."""
    return [*selected(objects, "Deployment", labels), *selected(objects, "StatefulSet", labels)]


def programs(made_by: list[Object]) -> set[str]:
    """Return the programs of pods, as the code's folders name them."""
    modules = [
        container["args"][0]
        for maker in made_by
        for container in maker["spec"]["template"]["spec"]["containers"]
    ]
    return {module.removeprefix("services.").partition(".")[0] for module in modules}


def test_every_program_of_the_example_is_scraped() -> None:
    objects = rendered("-f", str(FULL))
    every = programs(makers(objects, {}))
    assert {"console", "lookout", "auditor", "archivist"} <= every
    # Kafka and Postgres are no programs of ours.
    assert {each for each in every - programs(scraped(objects)) if "\n" not in each} == set()


def test_no_pod_is_scraped_twice() -> None:
    """Its figures would count twice; the console has a Service of its own to the same pods."""
    ways = Counter(each["metadata"]["name"] for each in scraped(rendered("-f", str(FULL))))
    assert ways
    assert {name: count for name, count in ways.items() if count > 1} == {}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_metric_comes_from_a_program_that_is_scraped(path: Path) -> None:
    sources = programs(scraped(rendered("-f", str(FULL))))
    named = metrics_named(path.read_text("utf-8"))
    assert named
    missing = {name: owners(name) for name in named if not owners(name) & (sources | LIBRARIES)}
    assert not missing
