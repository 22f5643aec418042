"""Labels and annotations: texts also where they look like numbers."""

import itertools
import json
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import pytest

from tests.chart.rendering import needs_helm, rendered, setting

pytestmark = needs_helm


def numeric_stream() -> str:
    """Return a stream's text whose hash in an annotation has digits only."""
    for number in itertools.count():
        text = f"{{stream: s{number}, partitions: 1, retention_hours: 1}}"
        written = json.dumps({"streams": {"s.yaml": text}}, separators=(",", ":"))
        if sha256(written.encode()).hexdigest()[:16].isdigit():
            return text
    raise AssertionError


def marked(of: Any) -> Iterator[Any]:
    """Return every value of labels, annotations and what selects by them, however deep."""
    if isinstance(of, list):
        for each in of:
            yield from marked(each)
    elif isinstance(of, dict):
        for name, each in of.items():
            if name in {"labels", "annotations", "matchLabels"}:
                yield from each.values()
            yield from marked(each)


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
