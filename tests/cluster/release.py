"""The installed release: what it is asked, what is done to it, and what came to its far ends."""

import base64
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Final

import httpx2
import psycopg

from services.machine.ports import free_ports
from services.machine.problems import MachineProblem
from tests.acceptance.system import CHANNELS, ROOT, Simulation
from tests.cluster.drivers import OPERATORS, Operator
from tests.cluster.kubectl import Kubectl, Object, ready, run, until
from tests.integration.samples import total
from tests.said import whole_lines

CHART: Final = ROOT / "charts" / "aldebaran"
HERE: Final = Path(__file__).parent
NAME: Final = "aldebaran"
WORK: Final = {
    "gateway": "aldebaran_gateway_events_total",
    "lookout": "aldebaran_lookout_alerts_total",
    **{f"deliverer-{channel}": "aldebaran_deliverer_deliveries_total" for channel in CHANNELS},
}
"""What counts the work of each component that can have several pods."""
PAGES_PORT: Final = 8080
READY_TIMEOUT_SECONDS: Final = 700.0
SETTLE_TIMEOUT_SECONDS: Final = 240.0
JOURNAL: Final = "/tmp/inbox/received.jsonl"  # noqa: S108 - in its pod
BUS_PROGRAM: Final = HERE / "bus_counts.py"


@dataclass
class Release:
    """A release of the chart in a namespace of its own; `values` are laid over each other."""

    kubectl: Kubectl
    folder: Path
    """Where reports of simulations are written."""
    values: list[Path] = field(default_factory=lambda: [HERE / "values.yaml"])
    set: list[str] = field(default_factory=list)
    tag: str = ""
    """Of both images, if not as the values say."""
    ledger_secret: ClassVar[str] = "postgres"

    @property
    def system(self) -> "Release":
        """The release itself, for what counts a system's rows."""
        return self

    def install(self) -> None:
        """Install or upgrade, and wait until every part is ready."""
        files = [text for path in self.values for text in ("-f", str(path))]
        images = [f"image.{image}.tag={self.tag}" for image in ("service", "spark") if self.tag]
        single = [text for pair in [*self.set, *images] for text in ("--set", pair)]
        run(
            (
                "helm",
                "-n",
                self.kubectl.namespace,
                "upgrade",
                "--install",
                NAME,
                str(CHART),
                *files,
                *single,
            )
        )
        self.wait_ready()

    def remove(self) -> None:
        """Remove all of it, with its namespace, and let nothing drain.

        The second auditor would wait minutes for the first; the next run needs the name.
        """
        makers = ["statefulsets", "deployments", *(each.kind for each in self._operators)]
        # An operator's objects go when their drivers have, which are ended next.
        self.kubectl.say("delete", ",".join(makers), "--all", "--wait=false")
        self.kubectl.say("delete", "pods", "--all", "--force", "--grace-period=0")
        run(("kubectl", "delete", "namespace", self.kubectl.namespace, "--timeout=120s"))

    @property
    def _operators(self) -> list[Operator]:
        """The one that starts the drivers, if one does."""
        return [each for name, each in OPERATORS.items() if f"auditor.runner={name}" in self.set]

    def upgrade(self, tag: str) -> None:
        """Upgrade to images of another tag, and wait until every part is ready."""
        self.tag = tag
        self.install()

    def roll_back(self) -> None:
        """Go back to the revision before the upgrade, and wait until every part is ready."""
        self.tag = ""
        run(("helm", "-n", self.kubectl.namespace, "rollback", NAME))
        self.wait_ready()

    def scale(self, pods: int) -> None:
        """Give what shares work so many pods and partitions, and wait until every part is ready."""
        readers = ["components.lookout", *(f"channels.{channel}" for channel in CHANNELS)]
        self.set += [f"{part}.replicas={pods}" for part in ("components.gateway", *readers)]
        self.set += [f"{part}.partitions={pods}" for part in readers]
        self.install()

    def work(self, parts: Iterable[str]) -> dict[str, dict[str, int]]:
        """Return what each pod of these components has done since it started, by both names."""
        return {
            component: {
                pod["metadata"]["name"]: int(total(self._page(pod, "/metrics"), WORK[component]))
                for pod in self.pods(component)
            }
            for component in parts
        }

    def _page(self, pod: Object, path: str) -> str:
        url = f"http://{address(pod)}:{PAGES_PORT}{path}"
        return httpx2.get(url, timeout=10).raise_for_status().text

    def test(self) -> str:
        """Run the chart's own tests; return what they say."""
        return run(
            ("helm", "-n", self.kubectl.namespace, "test", NAME, "--logs", "--timeout", "5m")
        )

    def pods(self, component: str, *more: str) -> list[Object]:
        """Return a component's pods, the sequence of their names."""
        labels = (f"app.kubernetes.io/instance={NAME}", f"app.kubernetes.io/component={component}")
        return sorted(
            self.kubectl.get("pods", *labels, *more), key=lambda pod: str(pod["metadata"]["name"])
        )

    def images(self) -> str:
        """Return the first letters of the ids of the two images that run."""
        pods = [self.pods(component)[0] for component in ("gateway", "auditor-a")]
        found = [pod["status"]["containerStatuses"][0]["imageID"] for pod in pods]
        return " ".join(each.rpartition(":")[2][:7] for each in found)

    def wait_ready(self, without: Iterable[str] = ()) -> None:
        """Wait until every set has as many ready pods of its newest kind as it wants.

        Those of the components `without` may lack some.
        """
        may_lack = {f"{NAME}-{component}" for component in without}

        def unready() -> list[str]:
            return [name for name in self.unready() if name not in may_lack]

        until(lambda: not unready(), READY_TIMEOUT_SECONDS, lambda: f"not ready: {unready()}")

    def unready(self) -> list[str]:
        """Return the sets whose pods are not all there, new and ready, and such drivers."""
        mine = f"app.kubernetes.io/instance={NAME}"
        sets = [*self.kubectl.get("statefulsets", mine), *self.kubectl.get("deployments", mine)]
        idle = [name for each in self._operators for name in each.not_driven(self.kubectl, mine)]
        return [each["metadata"]["name"] for each in sets if not whole(each)] + idle

    def address(self, service: str) -> str:
        """Return where a Service of this namespace listens, by number."""
        found = json.loads(self.kubectl.say("get", "service", service, "-o", "json"))
        return str(found["spec"]["clusterIP"])

    @cached_property
    def api_key(self) -> str:
        """The release's key for events."""
        return self.secret("keys", "aldebaran_simulator_api_key")

    def secret(self, part: str, key: str) -> str:
        """Return what a Secret of a part of the release has under a key."""
        found = json.loads(self.kubectl.say("get", "secret", f"{NAME}-{part}", "-o", "json"))
        return base64.b64decode(found["data"][key]).decode()

    @contextmanager
    def connection(self) -> Iterator[psycopg.Connection]:
        """Open a connection to the ledger; what is done on it is committed at the end."""
        (pod,) = self.pods("postgres")
        login = f"aldebaran:{self.secret(self.ledger_secret, 'password')}"
        url = f"postgresql://{login}@{address(pod)}:5432/aldebaran"
        with psycopg.connect(url, connect_timeout=10) as connection:
            yield connection

    def ask(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a question to the ledger."""
        with self.connection() as connection:
            return connection.execute(sql, values).fetchall()

    def get(self, service: str, path: str) -> Any:
        """Return the JSON that the pages of a Service with port 8080 answer."""
        url = f"http://{self.address(service)}:{PAGES_PORT}{path}"
        return httpx2.get(url, timeout=10).raise_for_status().json()

    def simulate(self, *dials: str) -> Simulation:
        """Start the simulator against this release's gateway."""
        report, port = self.folder / f"report-{free_ports(1)[0]}.json", free_ports(1)[0]
        environment = {
            **os.environ,
            "ALDEBARAN_SIMULATOR_GATEWAY_URL": f"http://{self.address(f'{NAME}-gateway')}",
            "ALDEBARAN_SIMULATOR_API_KEY": self.api_key,
            "ALDEBARAN_HTTP_PORT": str(port),
        }
        command = [sys.executable, "-m", "services.simulator", *dials, "--report", str(report)]
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=quiet, stderr=quiet)
        return Simulation(process, report, port)

    def received(self) -> dict[str, Counter[str]]:
        """Return how often each delivery came in, by channel."""
        page = self.get("far-end", "/received")
        return {
            "webhook": Counter(page["hook"]["ids"]),
            "email": Counter(page["mail"]["ids"]),
            "bus": self._notifications(),
        }

    def arrivals_ms(self) -> dict[str, int]:
        """Return when each delivery first came to the far end, by its id."""
        first: dict[str, int] = {}
        told = self.kubectl.say("exec", "deploy/far-end", "--", "cat", JOURNAL)
        for line in whole_lines(told):
            arrival = json.loads(line)
            first.setdefault(arrival["delivery_id"], arrival["at_ms"])
        return first

    def _notifications(self) -> Counter[str]:
        pod = next(each["metadata"]["name"] for each in self.pods("gateway") if ready(each))
        return Counter(json.loads(self.kubectl.python(pod, BUS_PROGRAM.read_text("utf-8"))))

    def wait_for(self, condition: Callable[[], bool], otherwise: str) -> None:
        """Wait for a condition; a part that is away for now is no failure."""

        def holds() -> bool:
            try:
                return condition()
            except (httpx2.HTTPError, psycopg.OperationalError, MachineProblem):
                return False

        until(holds, SETTLE_TIMEOUT_SECONDS, lambda: otherwise)


def address(pod: Object) -> str:
    """Return where a pod listens, by number; where it has no address yet, one that refuses."""
    return str(pod["status"].get("podIP", "0.0.0.0"))  # noqa: S104 - nothing is bound to it


def whole(each: Object) -> bool:
    """Tell whether a set has its wanted pods, all of the newest kind, and all ready."""
    status, wanted = each.get("status", {}), each["spec"].get("replicas", 1)
    seen = status.get("observedGeneration", 0) >= each["metadata"]["generation"]
    new = status.get("updatedReplicas", 0) == wanted or (
        each["kind"] == "StatefulSet"
        and status.get("currentRevision") == status.get("updateRevision")
    )
    alone = status.get("replicas", 0) == wanted
    return bool(seen and new and alone and status.get("readyReplicas", 0) == wanted)
