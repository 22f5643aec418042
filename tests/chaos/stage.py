"""One system under fire: its programs by name, its doors, its disks, and who arrives."""

import os
import signal
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx2
import orjson
import psutil
from confluent_kafka.admin import AdminClient

from services.contracts.topics import NOTIFICATIONS
from services.machine.problems import MachineProblem
from services.machine.waiting import now_seconds, wait_until
from tests.acceptance.system import START_TIMEOUT_SECONDS, System
from tests.chaos.changes import Change, Declared
from tests.chaos.disks import Disks, Kind
from tests.chaos.doors import Doors
from tests.chaos.notifications import Notifications
from tests.chaos.probe import Probe
from tests.chaos.wellness import not_well
from tests.integration.samples import total

EVENTS = "/v1/streams/trades/events"
INSTANCE = "ALDEBARAN_KAFKA_GROUP_INSTANCE_ID"
AUDITOR_PORTS = {"auditor-b": "auditor_b"}
"""Names of ports where they are not `auditor`."""
BROKERS = ("kafka", "kafka-2", "kafka-3")
SEND_TIMEOUT_SECONDS = 10.0
WELL_TIMEOUT_SECONDS = 300.0
WELL_PAUSE_SECONDS = 1.0
"""Asking all programs takes a tenth of a second of the processor that they need."""


class Stage:
    """A running system; with `doors` it can be cut off, with `disks` stores are full or slow, and
    with `declared` its watches change."""

    def __init__(
        self,
        system: System,
        doors: Doors | None = None,
        disks: Disks | None = None,
        declared: Declared | None = None,
    ) -> None:
        self.system = system
        self._doors = doors
        self.disks = disks or Disks(system, Kind.NONE, {})
        self._declared = declared
        self._trials = 0
        self._client = httpx2.Client(timeout=SEND_TIMEOUT_SECONDS, trust_env=False, verify=False)

    def open(self) -> None:
        """Begin to count what the bus brings; the system must be up."""
        self._notifications = Notifications(self.bootstrap, NOTIFICATIONS)

    def close(self) -> None:
        """Stop counting and sending."""
        self._client.close()
        self._notifications.close()

    def next_number(self) -> int:
        """Return a number that no trial on this stage has had."""
        self._trials += 1
        return self._trials

    def wait_until_well(self) -> None:
        """Wait until nothing is left of an earlier fault."""
        deadline = now_seconds() + WELL_TIMEOUT_SECONDS
        while (why := not_well(self.system, self.bootstrap)) is not None:
            if now_seconds() > deadline:
                raise MachineProblem(f"not well for {WELL_TIMEOUT_SECONDS:g} s: {why}")
            self.system.pause(WELL_PAUSE_SECONDS)

    @property
    def bootstrap(self) -> str:
        """The brokers' addresses, as clients know them."""
        names = (name.replace("-", "_") for name in BROKERS[: self.system.kafka_nodes])
        return ",".join(f"127.0.0.1:{self.system.port(name)}" for name in names)

    def programs(self) -> dict[str, list[psutil.Process]]:
        """Return the processes of each running program, parents before children."""
        return programs(self.system.process)

    def auditors(self) -> list[str]:
        """Return the names of all auditors that the plan has."""
        return sorted(name for name in self.programs() if name.split("-")[0] == "auditor")

    def leader(self) -> str:
        """Return the broker that leads the first partition of the events."""
        listed = AdminClient({"bootstrap.servers": self.bootstrap}).list_topics(timeout=30)
        node: int = listed.topics["trades"].partitions[0].leader
        return BROKERS[node - 1]

    def controller(self) -> str:
        """Return the broker that decides who leads, as those that have voted last wrote down."""
        votes = [orjson.loads(self._vote(name).read_bytes()) for name in BROKERS]
        node: int = max(votes, key=lambda vote: vote["leaderEpoch"])["leaderId"]
        if node < 1:
            raise MachineProblem("no broker decides who leads")
        return BROKERS[node - 1]

    def _vote(self, broker: str) -> Path:
        return self.system.state(broker, "data", "__cluster_metadata-0", "quorum-state")

    def batches(self, auditor: str) -> float:
        """Return how many batches an auditor has committed since it started; 0 while it is away."""
        try:
            page = self.system.text(AUDITOR_PORTS.get(auditor, "auditor"), "/metrics")
        except httpx2.HTTPError:
            return 0.0
        return total(page, "aldebaran_auditor_batches_total")

    def kill(self, names: Iterable[str]) -> None:
        """End programs with SIGKILL at once, and wait until others have their places."""
        running = self.programs()
        before = {name: {process.pid for process in running[name]} for name in names}
        for pids in before.values():
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

        def replaced() -> bool:
            now = self.programs()
            return all({p.pid for p in now.get(name, [])} - pids for name, pids in before.items())

        wait_until(replaced, START_TIMEOUT_SECONDS, f"not started again: {set(before)}")

    def lead_by_controller(self) -> None:
        """Have the controller lead nearly all: kill the others in turn."""
        controller = self.controller()
        for broker in BROKERS:
            if broker != controller:
                self.kill([broker])
                self.wait_until_well()

    @contextmanager
    def standing_still(self, names: Iterable[str]) -> Iterator[None]:
        """Stop programs with SIGSTOP while the block lasts."""
        running = self.programs()
        processes = [process for name in names for process in running[name]]
        for process in processes:
            process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            for process in processes:
                with suppress(psutil.NoSuchProcess):
                    process.send_signal(signal.SIGCONT)

    @contextmanager
    def cut_off(self, names: Iterable[str], silent: bool) -> Iterator[None]:
        """Cut programs off from every store while the block lasts, stores from all programs."""
        assert self._doors is not None, "this system has no doors"
        with self._doors.cut(frozenset(names), silent):
            yield

    def change(self, change: Change) -> None:
        """Change a watch's file and change it back, each until every auditor has taken it over."""
        assert self._declared is not None, "this system reads the shipped watches"
        for step in (change, change.back()):
            self._declared.change(step, self.auditors())

    def probe(self, name: str) -> Probe:
        """Start probing from the gateway to the webhook's receiver."""
        hook = f"http://127.0.0.1:{self.system.port('inbox_hook')}/hook"
        journal = self.system.home / "inbox" / "received.jsonl"
        return Probe(name, self._over_purchase, hook, journal)

    def received(self) -> dict[str, Counter[str]]:
        """Return how often each delivery came in, by channel."""
        page = self.system.get("inbox", "/received")
        return {
            "webhook": Counter(page["hook"]["ids"]),
            "email": Counter(page["mail"]["ids"]),
            "bus": self._notifications.counted(),
        }

    def _over_purchase(self, key: str) -> bool:
        trade = {"client": "Baker Fund", "stock": "ACME"}
        request = {"id": key, "shares": 10, **trade}
        purchase = {"id": f"{key}-p", "initial order id": key, "#shares": 11, **trade}
        url, key = self.system.url("gateway") + EVENTS, self.system.api_key()
        answer = self._client.post(url, json=[request, purchase], headers={"x-api-key": key})
        return answer.is_success


def programs(parent: psutil.Process) -> dict[str, list[psutil.Process]]:
    """Return the processes of each running program, parents before children."""
    found: dict[str, list[psutil.Process]] = {}
    for process in parent.children(recursive=True):
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            if name := program_name(process):
                found.setdefault(name, []).append(process)
    return found


def program_name(process: psutil.Process) -> str | None:
    """Return the name that the plan has for a process, or None for what is not of the plan."""
    command = process.cmdline()
    if any(part.endswith("server.properties") for part in command):
        return Path(command[-1]).parent.name
    if command and (command[0].endswith("bin/postgres") or command[0].startswith("postgres:")):
        return "postgres"
    return process.environ().get(INSTANCE)
