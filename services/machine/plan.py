"""Everything that runs on one machine, as one expression."""

import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from services.machine import broker, postgres
from services.machine.programs import Program
from services.machine.readiness import HttpReadiness
from services.machine.settings import MachineSettings
from services.machine.setup import jars_folder

ROOT = Path(__file__).parents[2]
STORES = ("postgres", "kafka", "topics")


@dataclass(frozen=True)
class Machine:
    """What the plan is made from: settings, and what preparing the stores has found."""

    settings: MachineSettings
    java: Path
    binaries: Path
    node: broker.BrokerNode
    server: postgres.PostgresServer

    @property
    def tools(self) -> Path:
        """The folder of the virtual environment and the jars."""
        return self.settings.tools.resolve()

    @property
    def home(self) -> Path:
        """The folder of all state."""
        return self.settings.home.resolve()


def plan(machine: Machine) -> tuple[Program, ...]:
    """Return every program, each after those it needs; add a service by adding a line."""
    at = machine.settings
    return (
        postgres.program(machine.server, machine.binaries),
        broker.program(machine.node, machine.java, jars_folder(machine.tools, "broker")),
        Program("topics", python("services.topics"), after=("kafka",), once=True),
        terminal(),
        *landed(
            service("services.gateway", at.port_gateway, after=STORES),
            service("auditor", at.port_auditor, after=STORES, ready_timeout_seconds=180),
            service("services.lookout", at.port_lookout, after=STORES),
            service("services.heartbeat", at.port_heartbeat, after=(*STORES, "auditor")),
            service("services.console", at.port_console, after=STORES),
            inbox(at),
            deliverer("bus", at.port_deliverer_bus),
            deliverer("webhook", at.port_deliverer_webhook),
            deliverer("email", at.port_deliverer_email),
        ),
    )


def environment(machine: Machine, inherited: Mapping[str, str]) -> dict[str, str]:
    """Return what every program finds in its environment.

    The gateway listens on this machine only, so it asks for keys only if a file of keys is named.
    """
    return {
        "ALDEBARAN_API_KEYS": "on" if "ALDEBARAN_API_KEYS_FILE" in inherited else "off",
        **inherited,
        "ALDEBARAN_HOME": str(machine.home),
        "ALDEBARAN_TOOLS": str(machine.tools),
        "ALDEBARAN_KAFKA_BOOTSTRAP_SERVERS": machine.node.bootstrap,
        "ALDEBARAN_POSTGRES_URL": machine.server.url(),
        "ALDEBARAN_SPARK_JARS_DIR": str(jars_folder(machine.tools, "spark")),
        "JAVA_HOME": str(machine.java.resolve().parents[1]),
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": f"{ROOT}:{ROOT / 'spark-apps'}",
        "PYTHONUNBUFFERED": "1",
    }


def python(module: str) -> tuple[str, ...]:
    """Return the command of a Python module."""
    return (sys.executable, "-m", module)


def service(
    module: str,
    port: int,
    *,
    after: tuple[str, ...],
    name: str | None = None,
    ready_timeout_seconds: float = 60.0,
    settings: Mapping[str, str] | None = None,
) -> Program:
    """Return a Python service with its pages on `port`, ready when its page says so."""
    return Program(
        name=name or module.rpartition(".")[2],
        command=python(module),
        environment={"ALDEBARAN_HTTP_PORT": str(port), **(settings or {})},
        readiness=HttpReadiness(port),
        after=after,
        ready_timeout_seconds=ready_timeout_seconds,
    )


def deliverer(channel: str, port: int) -> Program:
    """Return the deliverer of one channel."""
    return service(
        "services.deliverer",
        port,
        name=f"deliverer-{channel}",
        after=STORES,
        settings={"ALDEBARAN_CHANNEL": channel},
    )


def inbox(at: MachineSettings) -> Program:
    """Return the mailbox and webhook receiver in which a person sees deliveries arrive."""
    return service(
        "services.simulator.inbox",
        at.port_inbox,
        after=(),
        settings={
            "ALDEBARAN_INBOX_SMTP_PORT": str(at.port_inbox_smtp),
            "ALDEBARAN_INBOX_HOOK_PORT": str(at.port_inbox_hook),
        },
    )


def terminal() -> Program:
    """Return the program that shows alerts and deliveries to whoever typed `make run`."""
    return Program(
        "terminal", python("services.machine.terminal"), after=("topics",), on_terminal=True
    )


def landed(*programs: Program) -> tuple[Program, ...]:
    """Leave out services whose program is not part of this project yet."""
    return tuple(program for program in programs if _is_there(program.command[-1]))


def _is_there(module: str) -> bool:
    try:
        if importlib.util.find_spec(f"{module}.__main__") is not None:
            return True
    except ModuleNotFoundError:
        return False
    return False
