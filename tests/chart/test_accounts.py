"""Which account each pod has, and which may make pods."""

import json
import re

import pytest

from tests.chart.rendering import APART, environment, needs_helm, pods, refusal, rendered, setting

pytestmark = needs_helm


@pytest.mark.parametrize("runner", ["local", "cluster", "kubeflow", "apache"])
def test_accounts_of_the_operators_own_are_named_wherever_a_pod_has_one(runner: str) -> None:
    shared = ("auditor.executors.count=1", "auditor.checkpoints.sharedNode=true")
    given = ("serviceAccount.name=ours", "serviceAccount.driverName=ours-of-drivers")
    objects = rendered(*setting(f"auditor.runner={runner}", *shared, *given))
    assert not [each for each in objects if each["kind"] == "ServiceAccount"]
    accounts = {pod["serviceAccountName"] for pod in pods(objects).values()}
    assert accounts <= {"ours", "ours-of-drivers"}
    options = re.findall(r'[aA]ccount(?:Name)?[\\": ]+([\w-]+)', json.dumps(objects))
    assert set(options) <= accounts | {"ours-of-drivers"}
    bound = [each["subjects"] for each in objects if each["kind"] == "RoleBinding"]
    named = {subject["name"] for subjects in bound for subject in subjects}
    assert named == (set() if runner == "local" else {"ours-of-drivers"})


def test_executors_have_the_role_of_all_pods_and_no_rights_over_them() -> None:
    objects = rendered(*APART)
    told = environment(pods(objects)["t-aldebaran-auditor-a"]["containers"][0])
    options = json.loads(told["ALDEBARAN_AUDITOR_SPARK_OPTIONS"])
    account = options["spark.kubernetes.authenticate.executor.serviceAccountName"]
    named = {each["metadata"]["name"] for each in objects if each["kind"] == "ServiceAccount"}
    bound = [each["subjects"] for each in objects if each["kind"] == "RoleBinding"]
    assert account in named
    assert account not in {subject["name"] for subjects in bound for subject in subjects}


def test_one_account_for_all_is_refused_as_it_would_give_every_pod_the_drivers_rights() -> None:
    said = refusal("serviceAccount.name=ours", "serviceAccount.driverName=ours")
    assert "every pod could make and delete pods" in said
