"""Every setting that the chart hands to a program is one that the program has, with a fit value."""

import importlib
import inspect
import os
import pkgutil
from collections.abc import Iterable, Iterator
from types import ModuleType
from unittest import mock

from pydantic import BaseModel

from services.backbone.settings import PREFIX, Settings
from tests.chart.rendering import (
    Case,
    Object,
    environment,
    every_case,
    needs_helm,
    pods,
    rendered,
    setting,
)

pytestmark = needs_helm

SHARED = {"kafka_bootstrap_servers", "channels", "streams_dir", "watches_dir", "secrets_dir"}
"""What every program is handed, whether it asks or not."""
SPARK = {"auditor", "archivist"}
ALSO_THERE = {"services.rehearsal": "auditor", "services.console": "services.aldebaran"}
"""Another program that takes a pod's settings: it is started there, or a person's command is."""
EVERYTHING = setting(
    *(f"components.{name}.enabled=true" for name in ("simulator", "inbox", "callbacks", "amqp")),
    *("archivist.enabled=true", "publicUrls.callbacks=https://door.example.com"),
    *("publicUrls.console=https://console.example.com", r"bindings.bindings\.yaml=bindings:"),
)


def modules(program: str) -> Iterator[ModuleType]:
    """Return the modules of a program; of a Spark application only what needs no Spark."""
    if program in SPARK:
        yield importlib.import_module(f"{program}.settings")
        return
    if program in ALSO_THERE:
        yield from modules(ALSO_THERE[program])
    package = importlib.import_module(program)
    yield package
    for found in pkgutil.walk_packages(getattr(package, "__path__", []), f"{program}."):
        yield importlib.import_module(found.name)


def settings_of(program: str) -> dict[str, type[BaseModel]]:
    """Return the classes of settings that a program's modules define or use, by name."""
    return {
        name: kind
        for module in modules(program)
        for name, kind in inspect.getmembers(module, inspect.isclass)
        if issubclass(kind, Settings)
    }


def programs(objects: list[Object]) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Return pod, program and settings of each container that runs one of our programs."""
    for name, pod in pods(objects).items():
        for container in pod["containers"]:
            if "args" in container and "command" not in container:
                told = environment(container)
                ours = {key: value for key, value in told.items() if key.startswith(PREFIX)}
                yield name, container["args"][0], ours


def names(variables: Iterable[str]) -> set[str]:
    """Return settings as the code spells them."""
    return {each.removeprefix(PREFIX).lower() for each in variables}


@every_case
def test_every_setting_exists(case: Case) -> None:
    unknown = {}
    for pod, program, told in programs(rendered(*case, *EVERYTHING)):
        known = {field for kind in settings_of(program).values() for field in kind.model_fields}
        if wrong := names(told) - known - SHARED:
            unknown[pod] = wrong
    assert not unknown


@every_case
def test_every_value_is_taken(case: Case) -> None:
    for _, program, told in programs(rendered(*case, *EVERYTHING)):
        for kind in own_settings(program):
            with mock.patch.dict(os.environ, told):
                kind()


def own_settings(program: str) -> list[type[BaseModel]]:
    """Return the settings that a program cannot start without; a channel's come as a secret."""
    home = {program, f"{program}.settings", f"{program}.__main__"}
    return [kind for kind in settings_of(program).values() if kind.__module__ in home]


def test_two_auditors_end_their_batches_apart_and_take_changes_apart() -> None:
    told = {
        name: environment
        for name, program, environment in programs(rendered())
        if program == "auditor"
    }
    a, b = told["t-aldebaran-auditor-a"], told["t-aldebaran-auditor-b"]
    assert float(a["ALDEBARAN_AUDITOR_PHASE"]) == 0.0
    assert float(b["ALDEBARAN_AUDITOR_PHASE"]) == 0.5
    delay = "ALDEBARAN_AUDITOR_RELOAD_DELAY_SECONDS"
    assert float(b[delay]) - float(a[delay]) == 300


def test_one_alone_is_alone() -> None:
    objects = rendered(*setting("auditor.ids={a}"))
    told = {program: environment for _, program, environment in programs(objects)}
    assert told["auditor"]["ALDEBARAN_AUDITOR_PHASE"] == "0"
    assert told["services.heartbeat"]["ALDEBARAN_HEARTBEAT_AUDITORS"] == '["a"]'
    length = "ALDEBARAN_AUDITOR_BATCH_SECONDS"
    assert told["services.heartbeat"][length] == told["auditor"][length]
    assert not [each for each in objects if each["metadata"]["name"].endswith("-auditors")]


def test_commands_in_the_consoles_pod_ask_it_where_it_listens() -> None:
    objects = rendered(*setting("components.console.port=9090"))
    told = {program: environment for _, program, environment in programs(objects)}
    assert told["services.console"]["ALDEBARAN_HTTP_PORT"] == "9090"
    assert told["services.console"]["ALDEBARAN_CONSOLE_URL"] == "http://127.0.0.1:9090"


def test_slots_are_those_of_the_executors_where_they_are_pods() -> None:
    pods_apart = setting(
        *("auditor.runner=cluster", "auditor.checkpoints.sharedNode=true"),
        *("auditor.executors.count=3", "auditor.executors.cores=5"),
    )
    told = {program: environment for _, program, environment in programs(rendered(*pods_apart))}
    assert told["auditor"]["ALDEBARAN_AUDITOR_SLOTS"] == "15"
