"""The embedded brokers: what they say is read where people look, and they are rolled with care."""

from pathlib import Path

import pytest

from tests.chart.rendering import Object, environment, needs_helm, pods, rendered, setting

pytestmark = needs_helm

NAME = "t-aldebaran-kafka"
VOLUMES_OF_THE_OFFICIAL_IMAGE = ("/etc/kafka/secrets", "/var/lib/kafka/data", "/mnt/shared/config")
"""Its `VOLUME` line; container engines lay an empty folder over each where nothing is mounted."""


def brokers(kind: str, *told: str) -> Object:
    """Return the brokers' object of a kind."""
    (made,) = (
        each
        for each in rendered(*setting(*told))
        if (each["kind"], each["metadata"]["name"]) == (kind, NAME)
    )
    return made


def test_all_that_brokers_log_goes_to_the_console() -> None:
    (container,) = pods(rendered())[NAME]["containers"]
    told = environment(container)["KAFKA_LOG4J_OPTS"]
    file = Path(told.removeprefix("-Dlog4j2.configurationFile="))
    mounted = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
    assert str(file.parent) == mounted["settings"]
    lines = brokers("ConfigMap")["data"][file.name].splitlines()
    kinds = [line for line in lines if line.startswith("appender.") and ".layout." not in line]
    assert kinds == ["appender.out.type = Console", "appender.out.name = out"]
    assert "rootLogger.level = info" in lines


@pytest.mark.parametrize(("count", "seconds"), [(1, 0), (3, 30)])
def test_a_broker_of_three_is_ready_once_its_port_has_been_open_for_a_while(
    count: int, seconds: int
) -> None:
    made = brokers("StatefulSet", f"kafka.embedded.replicas={count}")["spec"]
    (container,) = made["template"]["spec"]["containers"]
    probe = container["readinessProbe"]
    assert (probe.get("successThreshold", 1) - 1) * probe["periodSeconds"] == seconds
    assert "minReadySeconds" not in made


def test_brokers_find_each_other_before_one_is_ready() -> None:
    assert brokers("Service")["spec"]["publishNotReadyAddresses"] is True


def test_what_brokers_keep_is_on_their_claim_whatever_their_image_declares() -> None:
    (container,) = pods(rendered())[NAME]["containers"]
    mounted = {each["name"]: Path(each["mountPath"]) for each in container["volumeMounts"]}
    lines = brokers("ConfigMap")["data"]["server.properties"].splitlines()
    (kept,) = (Path(line.split("=")[1]) for line in lines if line.startswith("log.dirs="))
    assert mounted["data"] in kept.parents
    for volume in map(Path, VOLUMES_OF_THE_OFFICIAL_IMAGE):
        assert not {volume, *volume.parents} & {kept, *mounted.values()}
