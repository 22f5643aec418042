"""Add-ons of a test cluster: what is fetched, built and applied, without Go or a cluster."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from services.machine.problems import MachineProblem
from tests.cluster.addons.addon import Addon
from tests.cluster.addons.building import image_command, unpack
from tests.cluster.addons.go_module import GoModule
from tests.cluster.addons.installing import documents, is_established, trouble, with_image
from tests.cluster.addons.keda import started
from tests.cluster.addons.spark_operator import values
from tests.cluster.addons.table import ADDONS, named
from tests.cluster.addons.workshop import Workshop

MODULE = GoModule(
    module="example.com/lamp/v2",
    version="v2.1.0",
    h1="h1:right=",
    programs={"/lamp": "./cmd/lamp", "/usr/bin/shade": "./cmd/shade"},
    linked={"example.com/lamp/v2/version.Version": "v2.1.0"},
)
ADDON = Addon(
    name="lamp",
    origin=MODULE,
    manifests="config",
    install=lambda addon, folder: None,
    packages=("iptables", "ipset"),
    user=0,
)
SHOP = Workshop(Path("/tools/addons"), "/go/bin/go", docker_build=("--network", "host"))


def test_each_addon_is_named_and_pinned() -> None:
    assert [each.name for each in named(["keda", "metrics-server"])] == ["keda", "metrics-server"]
    modules = [each.origin for each in ADDONS.values() if isinstance(each.origin, GoModule)]
    assert len(modules) == len(ADDONS) - 1
    assert all(each.h1.startswith("h1:") and each.programs for each in modules)


@pytest.mark.parametrize("names", [[], ["kedda"]])
def test_says_which_addons_there_are(names: list[str]) -> None:
    with pytest.raises(MachineProblem, match=r'ADDONS="metrics-server keda'):
        named(names)


@pytest.mark.parametrize(
    ("told", "complaint", "match"),
    [
        ({"Sum": "h1:wrong=", "Dir": "/cache"}, "", "sum is h1:wrong=.* says h1:right="),
        ({"Error": "unknown revision v2.1.0\n"}, "", "cannot be had: unknown revision v2.1.0$"),
        ({}, "no network", "cannot be had: no network"),
    ],
)
def test_takes_no_other_module_than_the_pinned(
    told: dict[str, str], complaint: str, match: str
) -> None:
    with pytest.raises(MachineProblem, match=match):
        MODULE.checked(told, complaint)


def test_takes_the_pinned_module() -> None:
    assert MODULE.checked({"Sum": "h1:right=", "Dir": "/cache"}, "a warning") == Path("/cache")


def test_builds_each_program_to_its_place_in_the_image() -> None:
    flags = "-s -w -X example.com/lamp/v2/version.Version=v2.1.0"
    whole = "/go/bin/go build -mod=readonly -trimpath -buildvcs=false -ldflags"
    assert MODULE.commands(SHOP, Path("/tools/addons/lamp-v2.1.0/image")) == [
        [*whole.split(), flags, "-o", "/tools/addons/lamp-v2.1.0/image/lamp", "./cmd/lamp"],
        [
            *whole.split(),
            *(flags, "-o", "/tools/addons/lamp-v2.1.0/image/usr/bin/shade", "./cmd/shade"),
        ],
    ]


def test_the_image_starts_the_first_program() -> None:
    command = image_command(SHOP, ADDON)
    assert command[:4] == ["docker", "build", "--network", "host"]
    told = [command[at + 1] for at, text in enumerate(command) if text == "--build-arg"]
    assert told == ["ENTRY=/lamp", "PACKAGES=iptables ipset", "RUN_AS=0"]
    assert command[-5:-3] == ["-t", "aldebaran-test/lamp:v2.1.0"]
    assert command[-1] == "/tools/addons/lamp-v2.1.0/image"


def test_the_image_is_built_on_the_one_whose_programs_it_starts() -> None:
    on_spark = replace(ADDON, base="aldebaran/spark:dev")
    assert "BASE=aldebaran/spark:dev" in image_command(SHOP, on_spark)
    assert not [each for each in image_command(SHOP, ADDON) if each.startswith("BASE=")]


def test_workshop_is_where_the_tools_are(tmp_path: Path) -> None:
    go = tmp_path / "tools" / "chart" / "bin" / "go"
    environment = {"ALDEBARAN_TOOLS": "tools", "PATH": "", "LOAD": "kind load docker-image"}
    assert Workshop.of(environment, tmp_path).go == ""
    go.parent.mkdir(parents=True)
    go.touch()
    shop = Workshop.of(environment, tmp_path)
    assert shop == Workshop(
        tmp_path / "tools/addons", str(go), load=("kind", "load", "docker-image")
    )


def test_without_go_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(MachineProblem, match="make chart-tools"):
        unpack(Workshop(tmp_path), ADDON)


@pytest.fixture
def told_by_go(tmp_path: Path) -> Callable[[str], Workshop]:
    """A Go that tells of a module in a cache that nobody may write to."""
    cached = tmp_path / "cache"
    (cached / "config").mkdir(parents=True)
    (cached / "config" / "all.yaml").write_text("kind: Lamp\n")
    (cached / "vendor").mkdir()
    (cached / "vendor" / "modules.txt").touch()
    for path in (cached / "config" / "all.yaml", cached / "config", cached):
        path.chmod(path.stat().st_mode & ~0o222)

    def tells(h1: str) -> Workshop:
        go = tmp_path / "go"
        go.write_text(f'#!/bin/sh\necho \'{{"Sum": "{h1}", "Dir": "{cached}"}}\'\n')
        go.chmod(0o755)
        return Workshop(tmp_path / "shop", str(go))

    return tells


def test_copies_the_module_to_where_it_can_be_written(
    told_by_go: Callable[[str], Workshop],
) -> None:
    shop = told_by_go("h1:right=")
    tree = unpack(shop, ADDON)
    assert unpack(shop, ADDON) == tree
    assert (tree / "config" / "all.yaml").read_text() == "kind: Lamp\n"
    assert not (tree / "vendor").exists()
    assert tree.stat().st_mode & 0o200
    assert (tree / "config" / "all.yaml").stat().st_mode & 0o200


def test_copies_nothing_of_another_module(told_by_go: Callable[[str], Workshop]) -> None:
    shop = told_by_go("h1:wrong=")
    with pytest.raises(MachineProblem, match="not the pinned one"):
        unpack(shop, ADDON)
    assert not shop.folder.exists()


def test_gives_pods_the_image_that_is_on_the_nodes() -> None:
    text = """
kind: Deployment
spec: {template: {spec: {initContainers: [{name: a, image: x}], containers: [{name: b, image: y}]}}}
---
---
kind: CustomResourceDefinition
spec: {template: {spec: {containers: [{image: z}]}}}
"""
    deployment, definition = with_image(documents(text), ADDON.image)
    pod: dict[str, Any] = deployment["spec"]["template"]["spec"]
    given = {"image": "aldebaran-test/lamp:v2.1.0", "imagePullPolicy": "IfNotPresent"}
    assert pod["initContainers"] == [{"name": "a", **given}]
    assert pod["containers"] == [{"name": "b", **given}]
    assert definition["spec"]["template"]["spec"]["containers"] == [{"image": "z"}]


def test_the_spark_operator_is_told_our_image_and_to_work_everywhere() -> None:
    told = values("aldebaran-test/spark-operator:v2.3.0")
    image = {"registry": "aldebaran-test", "repository": "spark-operator", "tag": "v2.3.0"}
    assert told["image"] == image
    assert told["spark"]["jobNamespaces"] == [""]


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({}, False),
        ({"conditions": None}, False),
        ({"conditions": [{"type": "NamesAccepted", "status": "True"}]}, False),
        ({"conditions": [{"type": "Established", "status": "False"}]}, False),
        ({"conditions": [{"type": "Established", "status": "True"}]}, True),
    ],
)
def test_a_kind_is_known_once_it_is_served(status: dict[str, Any], expected: bool) -> None:
    assert is_established({"status": status}) is expected


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("bad status from https://10.0.0.1: 403", "403: the API server needs --requestheader-"),
        ("no endpoints", "no endpoints$"),
    ],
)
def test_says_what_an_api_server_lacks_that_serves_no_api_of_others(said: str, told: str) -> None:
    assert re.search(told, trouble({"status": {"conditions": [{"message": said}]}}))


def test_keda_programs_are_told_apart_in_one_image() -> None:
    container = {"args": ["/usr/local/bin/keda-adapter", "--v=0"], "resources": {"limits": {}}}
    made = started(
        {
            "kind": "Deployment",
            "metadata": {"name": "keda-metrics-apiserver"},
            "spec": {"template": {"spec": {"containers": [container]}}},
        }
    )
    (changed,) = made["spec"]["template"]["spec"]["containers"]
    assert changed["command"] == ["/keda-adapter"]
    assert changed["args"] == ["--v=0"]
    assert "limits" not in changed["resources"]
