"""What happens to a whole node while events flow.

`CLUSTER_NODES` names a program that does to a node what Kubernetes cannot, told as `lose NODE`,
`back NODE`, `cut NODE`, `mend NODE`; nodes.sh is one. It never hears the name of the first node,
which has the control plane and the tests' far end.
"""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from tests.cluster.cells import Deed
from tests.cluster.kubectl import Object, pause, run, until

if TYPE_CHECKING:
    from tests.cluster.release import Release

PROGRAM: Final = os.environ.get("CLUSTER_NODES", "")
WORKERS: Final = 3
"""How many nodes there must be beside the first: three brokers want as many."""
LEDGER: Final = "the ledger"
HOLDERS: Final = ("an auditor", LEDGER)
"""What a node has that is done something to."""
SEEN_TIMEOUT_SECONDS: Final = 180.0
"""In which Kubernetes must have seen that a node is away, or back."""
SILENT_SECONDS: Final = 20.0
"""How long a node stays cut off after Kubernetes has seen it."""


def nodes() -> list[Object]:
    """Return all nodes, the first one first."""
    items: list[Object] = json.loads(run(("kubectl", "get", "nodes", "-o", "json")))["items"]
    return items


def first() -> str:
    """Return the name of the first node."""
    return str(nodes()[0]["metadata"]["name"])


def spared(brokers: int) -> str | None:
    """Say why no node may be lost here, or None."""
    if not PROGRAM or brokers < WORKERS:
        return "CLUSTER_NODES names no program, or CLUSTER_BROKERS is not 3"
    if (found := len(nodes()) - 1) < WORKERS:
        return f"{found} nodes beside the first; {WORKERS} are needed"
    return None


def restarted(release: "Release", holder: str) -> None:
    """A node's power goes, and comes again once Kubernetes has seen that it went."""
    with _away(node_of(release, holder), "lose", "back"):
        pass


def lost(release: "Release", holder: str) -> None:
    """A node goes for good; its object is deleted, as clouds do, and another joins in its place.

    All but brokers must be whole before it does: three brokers want three nodes.
    """
    node = node_of(release, holder)
    with _away(node, "lose", "back"):
        run(("kubectl", "delete", "node", node))
        release.wait_ready(without=("kafka",))


def cut_off(release: "Release", holder: str) -> None:
    """A node's network is silent, and its programs run on; then it is back."""
    with _away(node_of(release, holder), "cut", "mend"):
        pause(SILENT_SECONDS)


def drained(release: "Release", holder: str) -> None:
    """A node is emptied, as for its upgrade; all but brokers are whole elsewhere; it is back."""
    node = node_of(release, holder)
    options = ("--ignore-daemonsets", "--delete-emptydir-data", "--timeout=380s")
    try:
        run(("kubectl", "drain", node, *options))
        release.wait_ready(without=("kafka",))
    finally:
        run(("kubectl", "uncordon", node))


NODE_DEEDS: Final[dict[Deed, Callable[["Release", str], None]]] = {
    Deed.NODE_RESTARTS: restarted,
    Deed.NODE_LOST: lost,
    Deed.NODE_CUT_OFF: cut_off,
    Deed.NODE_DRAINED: drained,
}


def node_of(release: "Release", holder: str) -> str:
    """Return the ledger's node, or that of an auditor which is not the ledger's too."""
    ledger = _node(release, "postgres")
    if holder == LEDGER:
        return ledger
    auditors = (_node(release, f"auditor-{each}") for each in "ab")
    return next(node for node in auditors if node != ledger)


def _node(release: "Release", component: str) -> str:
    return str(release.pods(component)[0]["spec"]["nodeName"])


@contextmanager
def _away(node: str, verb: str, opposite: str) -> Iterator[None]:
    """Have the program do something to a node, and its opposite, Kubernetes seeing both."""
    run((PROGRAM, verb, node))
    try:
        _until_ready(node, "Unknown")
        yield
    finally:
        run((PROGRAM, opposite, node))
        _until_ready(node, "True")


def _until_ready(node: str, wanted: str) -> None:
    until(
        lambda: _ready(node) == wanted,
        SEEN_TIMEOUT_SECONDS,
        lambda: f"{node}: Ready is {_ready(node)}, not {wanted}",
    )


def _ready(node: str) -> str:
    """Return what Kubernetes holds of a node: True, False, Unknown; nothing of one it lacks."""
    for each in nodes():
        if each["metadata"]["name"] == node:
            told = {c["type"]: str(c["status"]) for c in each["status"]["conditions"]}
            return told["Ready"]
    return "nothing"
