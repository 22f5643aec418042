"""The whole system as `make run` starts it, in a folder and on ports of its own."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import psutil
import psycopg
import yaml

from services.lookout.settings import SHIPPED_ROUTES
from services.machine.plan.routes import routes
from services.machine.ports import free_ports
from services.machine.settings import MachineSettings
from services.machine.waiting import wait_until
from services.simulator.report import Report
from tests.integration.rabbitmq import RABBITMQ_SERVER

ROOT = Path(__file__).parents[2]
START_TIMEOUT_SECONDS = 480.0
SETTLE_TIMEOUT_SECONDS = 180.0
STOP_TIMEOUT_SECONDS = 60.0
CHANNELS = ("bus", "webhook", "email")
"""Where over-purchases go. Alerts of the accountant's own watch are nobody's finding here."""
PLAYED = ("sms", "push", "slack", "pagerduty", "nrdp", "nagios", "log")
"""The other channels; the routes of these tests have them told of `EVERYWHERE` too."""
EVERYWHERE = "Everywhere Fund"
DELIVERED = ["SENT", "CONFIRMED"]


def usable_channels() -> tuple[str, ...]:
    """Return every channel that has a far end on this machine."""
    return (*CHANNELS, *PLAYED, *(("rabbitmq",) if RABBITMQ_SERVER.exists() else ()))


def ports_in_a_row(count: int) -> int:
    """Return the first of so many free ports that follow one another."""
    while max(ports := sorted(free_ports(count))) - ports[0] >= count:
        continue
    return ports[0]


@dataclass
class System:
    """One run of everything but the simulator, which each test starts with its own dials."""

    home: Path
    extra: dict[str, str] = field(default_factory=dict)
    channels: tuple[str, ...] = field(default_factory=usable_channels)
    kafka_nodes: int = 1
    deliverers: int = 1
    """Of each channel: one, as all channels at once are many processes to start."""
    command: tuple[str, ...] = (sys.executable, "-m", "services.machine", "run")

    def __post_init__(self) -> None:
        routes = self.home.parent / f"{self.home.name}-routes.yaml"
        routes.write_text(acceptance_routes(self.channels))
        asked = MachineSettings(channels=self.channels, kafka_nodes=self.kafka_nodes, deliverers=1)
        names, first_mirror = asked.ports(), ports_in_a_row(len(self.channels))
        self.ports = dict(zip(names, free_ports(len(names)), strict=True))
        self.environment = {
            **os.environ,
            "ALDEBARAN_HOME": str(self.home),
            "ALDEBARAN_SIMULATOR_DIALS": "",
            "ALDEBARAN_CHANNELS": json.dumps(self.channels),
            "ALDEBARAN_KAFKA_NODES": str(self.kafka_nodes),
            "ALDEBARAN_DELIVERERS": str(self.deliverers),
            "ALDEBARAN_PORT_MIRRORS": str(first_mirror),
            "ALDEBARAN_ROUTES_FILE": str(routes),
            # A send that a kill cut off is in doubt; here its wait for evidence is short.
            "ALDEBARAN_SEND_TIMEOUT_SECONDS": "5",
            "ALDEBARAN_IN_DOUBT_DEADLINE_SECONDS": "5",
            **{name: str(port) for name, port in self.ports.items()},
            **self.extra,
        }
        if self.deliverers > 1:
            for port, channel in enumerate(self.channels, first_mirror):
                self.ports[f"ALDEBARAN_PORT_DELIVERER_{channel.upper()}_MIRROR"] = port

    def start(self) -> None:
        """Start everything and wait until all of it is ready."""
        self.output = self.home.parent / f"{self.home.name}.out"
        with self.output.open("ab") as output:
            self.process = psutil.Popen(
                self.command,
                cwd=ROOT,
                env=self.environment,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        wait_until(self._is_up, START_TIMEOUT_SECONDS, f"the system is not up: {self.said()}")

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ask everything to end; return the exit code."""
        self.process.send_signal(number)
        return int(self.process.wait(STOP_TIMEOUT_SECONDS))

    def said(self) -> str:
        """Return what the run has shown so far."""
        return self.output.read_text()

    def family(self) -> list[psutil.Process]:
        """Return every process of the run."""
        return [self.process, *self.process.children(recursive=True)]

    def port(self, name: str) -> int:
        """Return the port of a part, for example `gateway`."""
        return self.ports[f"ALDEBARAN_PORT_{name.upper()}"]

    def url(self, name: str) -> str:
        """Return the address of a part's pages."""
        return f"http://127.0.0.1:{self.port(name)}"

    def get(self, name: str, path: str) -> Any:
        """Return the JSON that a part's page answers."""
        return httpx2.get(self.url(name) + path, timeout=10).raise_for_status().json()

    def text(self, name: str, path: str) -> str:
        """Return the text that a part's page answers."""
        return httpx2.get(self.url(name) + path, timeout=10).raise_for_status().text

    def pause(self, seconds: float) -> None:
        """Let an outage last; its length is the test's input, not a wait for something."""
        threading.Event().wait(seconds)

    def post(self, name: str, path: str, value: object) -> httpx2.Response:
        """Post JSON to a part's page with this machine's key; return its answer."""
        headers = {"x-api-key": self.api_key()}
        return httpx2.post(self.url(name) + path, json=value, headers=headers, timeout=30)

    def api_key(self) -> str:
        """Return this machine's key."""
        return (self.home / "api-key").read_text().strip()

    def simulate(self, *dials: str) -> "Simulation":
        """Start the simulator against this system's gateway."""
        report = self.home.parent / f"report-{free_ports(1)[0]}.json"
        environment = {
            **self.environment,
            "ALDEBARAN_SIMULATOR_GATEWAY_URL": self.url("gateway"),
            "ALDEBARAN_SIMULATOR_API_KEY": self.api_key(),
            "ALDEBARAN_KAFKA_BOOTSTRAP_SERVERS": f"127.0.0.1:{self.port('kafka')}",
            "ALDEBARAN_HTTP_PORT": str(port := free_ports(1)[0]),
        }
        command = [sys.executable, "-m", "services.simulator", *dials, "--report", str(report)]
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        return Simulation(process, report, port)

    def state(self, *parts: str) -> Path:
        """Return where something of the run's state can be read from here."""
        return self.home.joinpath(*parts)

    def ask(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a question to the ledger."""
        password = self.state("postgres", "password").read_text().strip()
        url = f"postgresql://aldebaran:{password}@127.0.0.1:{self.port('postgres')}/aldebaran"
        with psycopg.connect(url, connect_timeout=10) as connection:
            return connection.execute(sql, values).fetchall()

    def wait_for(self, condition: Callable[[], bool], otherwise: str) -> None:
        """Wait for a condition; a store that is away for now is no failure."""

        def holds() -> bool:
            try:
                return condition()
            except (httpx2.HTTPError, psycopg.OperationalError):
                return False

        wait_until(holds, SETTLE_TIMEOUT_SECONDS, otherwise)

    def _is_up(self) -> bool:
        assert self.process.poll() is None, self.said()
        return "Aldebaran is running" in self.said()


def acceptance_routes(channels: tuple[str, ...]) -> str:
    """Write the machine's own routes for these channels, for one fund only; then the shipped."""
    made, shipped = yaml.safe_load(routes(channels)), yaml.safe_load(SHIPPED_ROUTES.read_text())
    everywhere = made["routes"][0]
    everywhere["match"]["labels"] = {"client": EVERYWHERE}
    return yaml.safe_dump(shipped | {"routes": [everywhere, *shipped["routes"]]})


@dataclass(frozen=True)
class Simulation:
    """A simulator on its way."""

    process: "subprocess.Popen[bytes]"
    report_file: Path
    port: int

    def has_sent(self) -> bool:
        """Tell whether its first message is on its way."""
        page = httpx2.get(f"http://127.0.0.1:{self.port}/metrics", timeout=10).text
        sent = re.findall(r"^aldebaran_simulator_sent_total{.*} (\S+)$", page, re.MULTILINE)
        return any(float(count) > 0 for count in sent)

    def finish(self, timeout_seconds: float = SETTLE_TIMEOUT_SECONDS) -> Report:
        """Wait for its end; return what it did. One that does not end is killed."""
        try:
            assert self.process.wait(timeout_seconds) == 0
        finally:
            self.process.kill()
            self.process.wait()
        return Report.model_validate_json(self.report_file.read_text())
