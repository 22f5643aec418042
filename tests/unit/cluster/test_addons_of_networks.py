"""What of others' manifests is changed before it is applied: kube-router's and CloudNativePG's."""

from typing import Any

from tests.cluster.addons.cloudnative_pg import itself
from tests.cluster.addons.installing import documents
from tests.cluster.addons.kube_router import KUBE_ROUTER, cleaner, firewall

ROUTER = """
kind: DaemonSet
metadata: {name: kube-router}
spec:
  template:
    spec:
      hostNetwork: true
      tolerations: [{operator: Exists}]
      initContainers: [{name: install-cni, volumeMounts: [{name: host-opt, mountPath: /opt}]}]
      containers:
        - name: kube-router
          args: [--run-router=true]
          securityContext: {privileged: true}
          volumeMounts:
            - {name: cni-conf-dir, mountPath: /etc/cni/net.d}
            - {name: xtables-lock, mountPath: /run/xtables.lock}
      volumes:
        - {name: cni-conf-dir, hostPath: {path: /etc/cni/net.d}}
        - {name: xtables-lock, hostPath: {path: /run/xtables.lock}}
---
kind: ServiceAccount
"""


def test_kube_router_brings_a_firewall_and_no_pod_network() -> None:
    router, account = (firewall(each) for each in documents(ROUTER))
    pod: dict[str, Any] = router["spec"]["template"]["spec"]
    assert account == {"kind": "ServiceAccount"}
    assert "initContainers" not in pod
    assert [each["name"] for each in pod["volumes"]] == ["xtables-lock"]
    (container,) = pod["containers"]
    assert [each["name"] for each in container["volumeMounts"]] == ["xtables-lock"]
    assert {"--run-firewall=true", "--run-router=false"} <= set(container["args"])
    assert pod["hostNetwork"]


def test_rules_are_taken_off_where_they_were_put() -> None:
    (router,) = (firewall(each) for each in documents(ROUTER) if each["kind"] == "DaemonSet")
    pod: dict[str, Any] = router["spec"]["template"]["spec"]
    made = cleaner(KUBE_ROUTER, pod)["spec"]["template"]["spec"]
    assert made["hostNetwork"]
    assert made["tolerations"] == pod["tolerations"]
    (clean,) = made["initContainers"]
    assert clean["image"] == KUBE_ROUTER.image
    assert clean["securityContext"] == {"privileged": True}
    assert clean["volumeMounts"] == pod["containers"][0]["volumeMounts"]


def test_cloudnative_pg_takes_its_program_from_the_image_that_is_on_the_nodes() -> None:
    text = """
kind: Deployment
spec: {template: {spec: {containers: [{resources: {limits: {cpu: 100m}}, env: [
  {name: OPERATOR_IMAGE_NAME, value: others},
  {name: MONITORING_QUERIES_CONFIGMAP, value: kept}]}]}}}
"""
    (made,) = documents(text)
    (container,) = itself(made, "ours:1")["spec"]["template"]["spec"]["containers"]
    assert container["env"] == [
        {"name": "MONITORING_QUERIES_CONFIGMAP", "value": "kept"},
        {"name": "OPERATOR_IMAGE_NAME", "value": "ours:1"},
    ]
    assert "limits" not in container["resources"]
