"""Who reaches whom at which port: tried from inside pods, by their shell, as all images have it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tests.cluster.kubectl import Kubectl, Object, run
from tests.cluster.release import HERE, address

PATIENCE_SECONDS: Final = 5
"""For one connection; where packets are dropped, no answer comes."""
# Each address that lets us in is written out; all are tried at once.
CONNECT: Final = f"""
connect() {{
  exec 2>/dev/null
  timeout {PATIENCE_SECONDS} bash -c "exec 3<>/dev/tcp/${{1%:*}}/${{1##*:}}" && echo "$1"
}}
for each in "$@"; do connect "$each" & done
wait
"""


@dataclass(frozen=True)
class Caller:
    """A pod that calls others."""

    kubectl: Kubectl
    pod: str

    def reached(self, addresses: Iterable[str]) -> set[str]:
        """Return which of these addresses (`1.2.3.4:80`) take a connection from it.

        Raises:
            MachineProblem: nothing can be run in it.
        """
        command = ("bash", "-c", CONNECT, "connect", *addresses)
        return set(self.kubectl.say("exec", self.pod, "--", *command).split())

    def address(self) -> str:
        """Return where it listens, by number; one that refuses where it is nowhere yet."""
        return address(self.itself())

    def itself(self) -> Object:
        """Return it as Kubernetes knows it."""
        (found,) = [
            each for each in self.kubectl.get("pods") if each["metadata"]["name"] == self.pod
        ]
        return found


def bystander(namespace: str) -> Caller:
    """Start a pod of nobody's in a namespace, and wait until it answers.

    Raises:
        MachineProblem: it does not start.
    """
    made = run(("kubectl", "create", "namespace", namespace, "--dry-run=client", "-o", "json"))
    run(("kubectl", "apply", "-f", "-"), made)
    kubectl = Kubectl(namespace)
    kubectl.say("apply", "-f", str(HERE / "bystander.yaml"))
    kubectl.say("wait", "--for=condition=Ready", "pod/bystander", "--timeout=120s")
    return Caller(kubectl, "bystander")
