"""kube-router as a firewall only: NetworkPolicies bite on the nodes, by iptables and ipset."""

import json
from pathlib import Path
from typing import Final

from tests.cluster.addons.addon import Addon
from tests.cluster.addons.go_module import GoModule
from tests.cluster.addons.installing import apply, documents, wait_rolled_out, with_image
from tests.cluster.kubectl import Object, run

NAMESPACE: Final = "kube-system"
NAME: Final = "kube-router"
FIREWALL: Final = [
    *("--run-firewall=true", "--run-router=false", "--run-service-proxy=false"),
    "--enable-cni=false",
]
KEPT_VOLUMES: Final = ("lib-modules", "xtables-lock")
"""The rest is for its own pod network, which would take the node's place."""
# Its own --cleanup-config finds none of its rules, as that controller is made without handlers.
CLEAN: Final = r"""
set -eu
mine='KUBE-(ROUTER|NWPLCY|POD-FW)-'
{
  echo '*filter'
  iptables -S | grep -E "^-A (INPUT|FORWARD|OUTPUT) .*-j KUBE-ROUTER-" | sed 's/^-A/-D/' || true
  iptables -S | sed -nE "s/^-N (${mine}.*)/-F \1/p"
  iptables -S | sed -nE "s/^-N (${mine}.*)/-X \1/p"
  echo COMMIT
} | iptables-restore --wait --noflush
for set in $(ipset list -name | grep -E '^(inet6:)?KUBE-(SRC|DST)-' || true); do
  ipset destroy "$set"
done
if iptables -S | grep -E "$mine"; then exit 1; fi
"""


def install(addon: Addon, manifests: Path) -> None:
    """Apply its own manifests without a network of its own, and wait until it runs."""
    made = documents(manifests.read_text("utf-8"))
    apply(firewall(each) for each in with_image(made, addon.image))
    wait_rolled_out(NAMESPACE, f"daemonset/{NAME}")


def firewall(made: Object) -> Object:
    """Return an object as a firewall needs it: no pod network, and asking for less."""
    if made["kind"] != "DaemonSet":
        return made
    pod = {name: each for name, each in _pod(made).items() if name != "initContainers"}
    (container,) = pod["containers"]
    mounts = [each for each in container["volumeMounts"] if each["name"] in KEPT_VOLUMES]
    requests = {"requests": {"cpu": "20m", "memory": "64Mi"}}
    pod["containers"] = [
        container | {"args": FIREWALL, "volumeMounts": mounts, "resources": requests}
    ]
    pod["volumes"] = [each for each in pod["volumes"] if each["name"] in KEPT_VOLUMES]
    template = made["spec"]["template"] | {"spec": pod}
    return made | {"spec": made["spec"] | {"template": template}}


def remove(addon: Addon, manifests: Path) -> None:
    """End the firewall and take its rules off each node; established connections stay."""
    made = documents(manifests.read_text("utf-8"))
    where = ("kubectl", "-n", NAMESPACE)
    run((*where, "delete", "daemonset", NAME, "--ignore-not-found", "--wait"))
    (asked,) = (firewall(each) for each in made if each["kind"] == "DaemonSet")
    apply([cleaner(addon, _pod(asked))])
    wait_rolled_out(NAMESPACE, f"daemonset/{NAME}-cleaner")
    run((*where, "delete", "daemonset", f"{NAME}-cleaner", "--wait"))
    everything = json.dumps({"apiVersion": "v1", "kind": "List", "items": made})
    run(("kubectl", "delete", "--ignore-not-found", "-f", "-"), everything)


def cleaner(addon: Addon, pod: Object) -> Object:
    """Return what cleans every node: ready when it has."""
    labels = {"k8s-app": f"{NAME}-cleaner"}
    (container,) = pod["containers"]
    cleaning = {"name": "clean", "image": addon.image, "command": ["sh", "-c", CLEAN]}
    shared = {name: container[name] for name in ("securityContext", "volumeMounts")}
    waiting = {"name": "done", "image": addon.image, "command": ["sleep", "infinity"]}
    spec = {
        "hostNetwork": True,
        "terminationGracePeriodSeconds": 0,
        "tolerations": pod["tolerations"],
        "initContainers": [cleaning | shared],
        "containers": [waiting],
        "volumes": pod["volumes"],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": f"{NAME}-cleaner", "namespace": NAMESPACE},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def _pod(made: Object) -> Object:
    pod: Object = made["spec"]["template"]["spec"]
    return pod


KUBE_ROUTER: Final = Addon(
    name=NAME,
    origin=GoModule(
        module="github.com/cloudnativelabs/kube-router/v2",
        version="v2.1.0",
        h1="h1:xWsptKtmZ44L+NjwFKoFAFlVdxCz8fka9A/eYJe95Ok=",
        programs={"/kube-router": "./cmd/kube-router"},
    ),
    manifests="daemonset/kubeadm-kuberouter.yaml",
    install=install,
    remove=remove,
    packages=("iptables", "ipset"),
    user=0,
)
