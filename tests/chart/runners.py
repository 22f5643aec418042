"""Auditors whose executors are pods, whoever starts the driver."""

from typing import Final

import yaml

from tests.chart.rendering import Object, rendered, setting

OPERATORS: Final = ("kubeflow", "apache")
RUNNERS: Final = ("cluster", *OPERATORS)


def made_by(runner: str, *more: str) -> list[Object]:
    """Return what the chart makes where executors are pods."""
    told = (f"auditor.runner={runner}", "auditor.checkpoints.sharedNode=true", *more)
    return rendered(*setting(*told))


def templates(objects: list[Object], runner: str) -> tuple[Object, Object]:
    """Return what pods of the first auditor begin from: its driver's, and its executors'."""
    named = {(each["kind"], each["metadata"]["name"]): each for each in objects}
    if runner == "cluster":
        driver = named["StatefulSet", "t-aldebaran-auditor-a"]["spec"]["template"]
        return driver, yaml.safe_load(named["ConfigMap", "t-aldebaran-executor"]["data"]["a.yaml"])
    spec = named["SparkApplication", "t-aldebaran-auditor-a"]["spec"]
    if runner == "kubeflow":
        return spec["driver"]["template"], spec["executor"]["template"]
    return spec["driverSpec"]["podTemplateSpec"], spec["executorSpec"]["podTemplateSpec"]
