"""Which exchanges feed which streams, as a value: the on-ramp of RabbitMQ gets it, nobody else."""

import json
from typing import Final

import pytest

from services.gateway.amqp.bindings import SHIPPED_BINDINGS, load_bindings
from tests.chart.rendering import Object, environment, needs_helm, rendered, setting, templates

pytestmark = needs_helm

AMQP: Final = "t-aldebaran-amqp"
HEAT: Final = "bindings: [{exchange: halls, queue: heat, stream: heat}]\n"
COLD: Final = "bindings: [{exchange: halls, queue: cold, stream: heat}]\n"


def given(bindings: dict[str, str], stream: str = "heat") -> dict[str, Object]:
    """Return the pods beside a stream of one's own, with these bindings."""
    streams = {"own.yaml": f"stream: {stream}\nkey: hall\n"}
    enabled = setting("components.amqp.enabled=true", "auditor.enabled=false")
    fed = ("--set-json", f"bindings={json.dumps(bindings)}")
    declared = ("--set-json", f"streams={json.dumps(streams)}")
    return templates(rendered(*enabled, *fed, *declared))


def mounted(pod: Object) -> set[str]:
    """Return the folders of a pod's programs."""
    return {
        each["mountPath"]
        for container in pod["containers"]
        for each in container.get("volumeMounts", [])
    }


def test_only_the_on_ramp_has_the_file_and_is_told_of_it() -> None:
    made = given({"bindings.yaml": HEAT})
    folder = "/etc/aldebaran/bindings"
    having = [name for name, each in made.items() if folder in mounted(each["spec"])]
    assert having == [AMQP]
    (program,) = made[AMQP]["spec"]["containers"]
    told = environment(program)["ALDEBARAN_AMQP_BINDINGS_FILE"]
    assert told == f"{folder}/bindings.yaml"


def test_changed_bindings_start_the_on_ramp_anew_and_nobody_else() -> None:
    before, after = given({"bindings.yaml": HEAT}), given({"bindings.yaml": COLD})
    changed = [name for name, each in after.items() if _digest(each) != _digest(before[name])]
    assert changed == [AMQP]


def _digest(template: Object) -> object:
    return template["metadata"].get("annotations", {}).get("aldebaran/declared")


def test_the_images_bindings_feed_what_the_chart_takes_them_to_feed() -> None:
    (shipped,) = load_bindings(SHIPPED_BINDINGS, {"trades"})
    program = given({}, stream=shipped.stream)[AMQP]["spec"]["containers"][0]
    assert "ALDEBARAN_AMQP_BINDINGS_FILE" not in environment(program)


@pytest.mark.parametrize("text", ["bindings: heat\n", "bindings: [heat]\n", "{}\n"])
def test_what_else_is_wrong_the_on_ramp_says_itself(text: str) -> None:
    assert AMQP in given({"bindings.yaml": text})
