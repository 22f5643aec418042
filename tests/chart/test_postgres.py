"""The embedded Postgres: its parameters reach it as they are written."""

import json
import shlex

import pytest

from tests.chart.rendering import needs_helm, pods, rendered

pytestmark = needs_helm


@pytest.mark.parametrize("value", ["200", "", "public, desk", "it's $HOME; `id`"])
def test_a_parameter_reaches_postgres_whole(value: str) -> None:
    parameters = json.dumps({"search_path": value})
    made = rendered("--set-json", f"postgres.embedded.parameters={parameters}")
    (container,) = pods(made)["t-aldebaran-postgres"]["containers"]
    (script,) = container["args"]
    started = shlex.split(script[script.index("exec postgres") :].replace("\\\n", ""))
    assert f"search_path={value}" in started
