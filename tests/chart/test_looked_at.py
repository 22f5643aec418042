"""What the console looks at it finds by name, also while it is not ready."""

from urllib.parse import urlsplit

import yaml

from tests.chart.rendering import CHART, environment, needs_helm, pods, rendered

pytestmark = needs_helm

FULL = CHART / "examples" / "full" / "values.yaml"


def test_names_lead_to_programs_that_are_not_ready() -> None:
    """A name without a cluster's address leads to each pod; only that can say why it waits."""
    services = {
        each["metadata"]["name"]: each["spec"]
        for each in rendered("-f", str(FULL))
        if each["kind"] == "Service"
    }
    of_one = {"t-aldebaran-accountant", "t-aldebaran-archivist", "t-aldebaran-auditor-a"}
    assert of_one <= hosts()
    told = {name for name, spec in services.items() if spec.get("publishNotReadyAddresses")}
    assert hosts() <= told
    assert {services[name]["clusterIP"] for name in told} == {"None"}


def hosts() -> set[str | None]:
    """Return the names that the console asks."""
    (console,) = pods(rendered("-f", str(FULL)))["t-aldebaran-console"]["containers"]
    parts = yaml.safe_load(environment(console)["ALDEBARAN_CONSOLE_PARTS"])
    return {urlsplit(url).hostname for url in parts.values()}
