"""Where NetworkPolicies are enforced, drivers and executors reach each other, however they run."""

import json

import pytest

from tests.chart.rendering import (
    Case,
    Object,
    environment,
    every_case,
    needs_helm,
    rendered,
    setting,
)
from tests.chart.runners import RUNNERS, made_by, templates

pytestmark = needs_helm

DRIVER_PORTS = {7078, 7079}
"""Where executors call: what the chart sets, and what Spark takes by itself in cluster mode."""


def labels_of_pods(objects: list[Object], runner: str) -> dict[str, dict[str, str]]:
    """Return the labels of the first auditor's driver and of its executors."""
    driver, executor = templates(objects, runner)
    return {"driver": driver["metadata"]["labels"], "executor": executor["metadata"]["labels"]}


def policies_of(objects: list[Object], labels: dict[str, str]) -> list[Object]:
    """Return the policies that select a pod with these labels, without the one that allows none."""
    return [
        each["spec"]
        for each in objects
        if each["kind"] == "NetworkPolicy"
        and each["spec"]["podSelector"]["matchLabels"].items() <= labels.items()
        and "ingress" in each["spec"]
    ]


def allows(rule: Object, side: str, labels: dict[str, str], port: int) -> bool:
    """Tell whether a rule lets a pod of these labels pass at a port."""
    peers = rule.get(side)
    known = [each["podSelector"]["matchLabels"] for each in peers or () if "podSelector" in each]
    passes = peers is None or any(each.items() <= labels.items() for each in known)
    return passes and port in {each["port"] for each in rule.get("ports", [{"port": port}])}


def may_come_in(objects: list[Object], to: dict[str, str], of: dict[str, str], port: int) -> bool:
    rules = [rule for policy in policies_of(objects, to) for rule in policy["ingress"]]
    return any(allows(rule, "from", of, port) for rule in rules)


def may_go_out(objects: list[Object], of: dict[str, str], to: dict[str, str], port: int) -> bool:
    rules = [rule for policy in policies_of(objects, of) for rule in policy["egress"]]
    return any(allows(rule, "to", to, port) for rule in rules)


@pytest.mark.parametrize("runner", RUNNERS)
def test_executors_reach_their_driver_and_it_reaches_them(runner: str) -> None:
    objects = made_by(runner)
    pods = labels_of_pods(objects, runner)
    ways = [("executor", "driver", port) for port in DRIVER_PORTS]
    ways += [("driver", "executor", 40123), ("executor", "executor", 40123)]
    for begin, end, port in ways:
        assert may_go_out(objects, pods[begin], pods[end], port), (begin, end, port)
        assert may_come_in(objects, pods[end], pods[begin], port), (begin, end, port)


def test_nobody_calls_a_driver_that_has_no_executors() -> None:
    objects = rendered()
    (driver,) = (
        each["spec"]["template"]["metadata"]["labels"]
        for each in objects
        if each["metadata"]["name"] == "t-aldebaran-auditor-a" and each["kind"] == "StatefulSet"
    )
    assert may_come_in(objects, driver, driver, 8080)
    assert not any(may_come_in(objects, driver, driver, port) for port in DRIVER_PORTS)
    assert not may_go_out(objects, driver, {}, 6443)


@pytest.mark.parametrize("runner", RUNNERS)
def test_drivers_reach_the_api_server_and_executors_do_not(runner: str) -> None:
    objects = made_by(runner, "networkPolicy.outsidePorts={9999}")
    pods = labels_of_pods(objects, runner)
    for port in (443, 6443):
        assert may_go_out(objects, pods["driver"], {}, port)
        assert not may_go_out(objects, pods["executor"], {}, port)


@pytest.mark.parametrize("runner", RUNNERS)
def test_ports_of_the_api_server_are_a_value(runner: str) -> None:
    objects = made_by(runner, "networkPolicy.apiServerPorts={16443}")
    driver = labels_of_pods(objects, runner)["driver"]
    assert may_go_out(objects, driver, {}, 16443)
    assert not may_go_out(objects, driver, {}, 6443)


def test_a_driver_in_client_mode_has_the_ports_that_are_open() -> None:
    driver, _ = templates(made_by("cluster"), "cluster")
    (container,) = driver["spec"]["containers"]
    options = json.loads(environment(container)["ALDEBARAN_AUDITOR_SPARK_OPTIONS"])
    ports = ("spark.driver.port", "spark.driver.blockManager.port")
    assert {int(options[name]) for name in ports} == DRIVER_PORTS


KEDA = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "keda"}}}


@pytest.mark.parametrize(
    ("chosen", "is_let_into"),
    [
        ("components.lookout.autoscaling.type=keda", {"t-aldebaran-kafka": 9092}),
        ("channels.email.autoscaling.type=keda", {"t-aldebaran-deliverer-email": 8080}),
        ("components.gateway.autoscaling.type=hpa", {}),
    ],
)
def test_keda_reaches_what_it_asks_and_nothing_else(
    chosen: str, is_let_into: dict[str, int]
) -> None:
    many = (
        *("components.lookout.partitions=4", "components.lookout.autoscaling.minReplicas=2"),
        "channels.email.partitions=4",
    )
    assert {
        each["metadata"]["name"]: rule["ports"][0]["port"]
        for each in rendered(*setting(chosen, *many))
        if each["kind"] == "NetworkPolicy"
        for rule in each["spec"].get("ingress") or ()
        if KEDA in rule.get("from", ())
    } == is_let_into


@every_case
def test_ports_are_numbers_for_a_text_is_the_name_of_one(case: Case) -> None:
    """Kubernetes refuses a name without a letter."""
    policies = [e["spec"] for e in rendered(*case) if e["kind"] == "NetworkPolicy"]
    rules = [
        rule for spec in policies for way in ("ingress", "egress") for rule in spec.get(way) or ()
    ]
    ports = [each["port"] for rule in rules for each in rule.get("ports", ())]
    assert ports
    assert all(isinstance(each, int) or any(map(str.isalpha, each)) for each in ports)
