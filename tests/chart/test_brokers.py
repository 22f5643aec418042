"""The embedded brokers: what they say is read where people look, and they are rolled with care."""

from pathlib import Path

import pytest

from tests.chart.rendering import Object, environment, needs_helm, pods, rendered, setting

pytestmark = needs_helm

NAME = "t-aldebaran-kafka"


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


@pytest.mark.parametrize(("count", "seconds"), [(1, None), (3, 30)])
def test_the_next_of_three_brokers_is_replaced_once_one_has_stood_for_a_while(
    count: int, seconds: int | None
) -> None:
    made = brokers("StatefulSet", f"kafka.embedded.replicas={count}")
    assert made["spec"].get("minReadySeconds") == seconds
