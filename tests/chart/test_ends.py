"""The end of a pod: Kubernetes waits as long as its program drains."""

import pytest

from services.backbone.settings import Settings
from tests.chart.rendering import Object, needs_helm, pods, rendered, setting

pytestmark = needs_helm

OWN = Settings.model_fields["drain_timeout_seconds"].default
GATEWAY = "components.gateway"


@pytest.mark.parametrize(
    ("told", "seconds"),
    [
        ([], 30),
        ([f"{GATEWAY}.preStopSeconds=60"], 60 + OWN + 10),
        ([f"{GATEWAY}.settings.drain_timeout_seconds=40.5"], 56),
        (["settings.drain_timeout_seconds=40"], 55),
        ([f"{GATEWAY}.preStopSeconds=60", f"{GATEWAY}.terminationGracePeriodSeconds=300"], 300),
    ],
    ids=str,
)
def test_a_program_is_not_killed_while_it_drains(told: list[str], seconds: int) -> None:
    gateway = pods(rendered(*setting(*told)))["t-aldebaran-gateway"]
    assert gateway["terminationGracePeriodSeconds"] == seconds


def test_no_auditor_starts_anew_what_runs_in_its_container() -> None:
    """What starts a container removes what an earlier one left, the files of a living Spark too."""
    for name, pod in pods(rendered()).items():
        for container in pod["containers"]:
            for words in _commands(container):
                assert words[0] != "/opt/aldebaran/start", name


def _commands(container: Object) -> list[list[str]]:
    hooks = [*container.get("lifecycle", {}).values()]
    probes = [each for name, each in container.items() if name.endswith("Probe")]
    return [each["exec"]["command"] for each in (*hooks, *probes) if "exec" in each]


def test_the_second_auditor_waits_for_the_first() -> None:
    (auditor,) = pods(rendered())["t-aldebaran-auditor-b"]["containers"]
    assert "auditor.relief" in auditor["lifecycle"]["preStop"]["exec"]["command"]
