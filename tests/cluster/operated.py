"""A release whose ledger is a Postgres by CloudNativePG's operator."""

import json
from typing import Any, ClassVar, Final

from services.machine.problems import MachineProblem
from tests.cluster.kubectl import Object
from tests.cluster.release import NAME, Release

CLUSTER: Final = f"{NAME}-postgres"


class OperatedRelease(Release):
    """Its part `postgres` is the server that takes writes now."""

    ledger_secret: ClassVar[str] = "postgres-app"

    def pods(self, component: str, *more: str) -> list[Object]:
        """Return a component's pods, the sequence of their names.

        Raises:
            MachineProblem: no server of Postgres takes writes now.
        """
        if component != "postgres":
            return super().pods(component, *more)
        labels = (f"cnpg.io/cluster={CLUSTER}", "cnpg.io/instanceRole=primary")
        if not (found := self.kubectl.get("pods", *labels)):
            raise MachineProblem("no server of Postgres takes writes")
        return found

    def unready(self) -> list[str]:
        """Return the sets whose pods are not all there, new and ready, Postgres' servers too."""
        cluster = self.cluster()
        ready = cluster.get("status", {}).get("readyInstances", 0)
        missing = [CLUSTER] if ready < cluster["spec"]["instances"] else []
        return [*super().unready(), *missing]

    def cluster(self) -> dict[str, Any]:
        """Return what the operator was asked for, and how it stands."""
        found: Object = json.loads(self.kubectl.say("get", "cluster", CLUSTER, "-o", "json"))
        return found
