"""Labels and annotations: texts also where they look like numbers, and pods' are kept."""

import itertools
import json
import re
import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.chart.rendering import CHART, Object, needs_helm, rendered, setting

pytestmark = needs_helm


def numeric_stream() -> str:
    """Return a stream's text whose hash in an annotation has digits only."""
    for number in itertools.count():
        text = f"{{stream: s{number}, partitions: 1, retention_hours: 1}}"
        written = json.dumps({"streams": {"s.yaml": text}}, separators=(",", ":"))
        if sha256(written.encode()).hexdigest()[:16].isdigit():
            return text
    raise AssertionError


LABELS = frozenset({"labels", "matchLabels"})
A_LABEL = re.compile(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?")
"""What Kubernetes takes as a label's value."""


def marked(of: Any, under: frozenset[str] = LABELS | {"annotations"}) -> Iterator[Any]:
    """Return every value of labels, annotations and what selects by them, however deep."""
    if isinstance(of, list):
        for each in of:
            yield from marked(each, under)
    elif isinstance(of, dict):
        for name, each in of.items():
            if name in under:
                yield from each.values()
            yield from marked(each, under)


@pytest.mark.parametrize("runner", ["local", "cluster", "kubeflow", "apache"])
def test_what_looks_like_a_number_stays_a_text(runner: str) -> None:
    stream = json.dumps({"s.yaml": numeric_stream()})
    numbers = ["--set-json", f"streams={stream}", "--set-string", "nameOverride=2026"]
    many = setting(f"auditor.runner={runner}", "auditor.checkpoints.sharedNode=true")
    more = setting("archivist.enabled=true", "auditor.slots=64", "auditor.watches=1")
    ids = ["--set-json", 'auditor.ids=["1","2"]']
    made = rendered(*numbers, *many, *more, *ids)
    assert {"1", "2"} <= set(marked(made))
    assert [each for each in marked(made) if not isinstance(each, str)] == []


def changed_chart(folder: Path, file: str, before: str, after: str) -> Path:
    """Return a copy of the chart in which one text is another."""
    copy = shutil.copytree(CHART, folder / "chart", ignore=shutil.ignore_patterns("examples"))
    text = (copy / file).read_text("utf-8")
    assert before in text
    (copy / file).write_text(text.replace(before, after), "utf-8")
    return copy


def unlabelled(objects: list[Object]) -> dict[str, Object]:
    """Return what objects ask for, without their own labels and without what chance draws."""
    for each in objects:
        del each["metadata"]["labels"]
    return {
        f"{each['kind']} {each['metadata']['name']}": each
        for each in objects
        if each["kind"] != "Secret"
    }


@pytest.mark.parametrize("runner", ["cluster", "apache"])
def test_another_version_of_the_chart_alone_starts_no_pod_again(
    runner: str, tmp_path: Path
) -> None:
    chosen = setting(f"auditor.runner={runner}", "auditor.checkpoints.sharedNode=true")
    newer = changed_chart(tmp_path, "Chart.yaml", "\nappVersion", "-next\nappVersion")
    before, after = rendered(*chosen), rendered(*chosen, chart=newer)
    assert after[0]["metadata"]["labels"]["helm.sh/chart"].endswith("-next")
    assert unlabelled(after) == unlabelled(before)


@pytest.mark.parametrize(
    ("line", "build"),
    [
        ("\nversion: 0.1.0", "+ab12"),
        ("\nversion: 0.1.0", "-next." + 40 * "1" + "+" + 12 * "a"),
        ('\nappVersion: "0.1.0', "+ab12"),
    ],
    ids=["as Flux builds", "long", "of the programs"],
)
def test_a_version_with_a_build_is_a_label_that_kubernetes_takes(
    line: str, build: str, tmp_path: Path
) -> None:
    made = rendered(chart=changed_chart(tmp_path, "Chart.yaml", line, line + build))
    wrong = {each for each in marked(made, LABELS) if not A_LABEL.fullmatch(each)}
    assert wrong == set()


def test_brokers_start_again_where_their_settings_are_others(tmp_path: Path) -> None:
    def noted(chart: Path) -> str:
        (made,) = (
            each["spec"]["template"]["metadata"]["annotations"]["aldebaran/settings"]
            for each in rendered(chart=chart)
            if each["kind"] == "StatefulSet" and each["metadata"]["name"] == "t-aldebaran-kafka"
        )
        return str(made)

    template, line = "templates/kafka/broker.yaml", "heartbeat.interval.ms={}"
    other = changed_chart(tmp_path, template, line.format(250), line.format(200))
    assert noted(other) != noted(CHART)


def test_a_common_label_may_be_one_of_ours_and_never_selects() -> None:
    ours = {"app.kubernetes.io/part-of": "desk", "app.kubernetes.io/instance": "other"}
    made = rendered("--set-json", f"commonLabels={json.dumps(ours)}")
    for each in made:
        assert each["metadata"]["labels"]["app.kubernetes.io/part-of"] == "desk"
        assert each["metadata"]["labels"]["app.kubernetes.io/instance"] == "t"
