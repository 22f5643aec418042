"""The RabbitMQ that is installed on this machine, as a node of our own: own ports, cookie, data."""

import os
import shutil
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from services.machine.problems import MachineProblem
from services.machine.supervision.programs import Program
from services.machine.supervision.readiness import TcpReadiness

PLACES: Final = (
    Path("/usr/lib/rabbitmq/bin"),
    Path("/opt/homebrew/opt/rabbitmq/sbin"),
    Path("/usr/local/opt/rabbitmq/sbin"),
)
"""Where packages put it; the program of the same name on Debian's PATH changes the user."""
MISSING: Final = (
    "channel rabbitmq: no RabbitMQ is installed. Install it (Debian: sudo apt-get install"
    " rabbitmq-server, Fedora: sudo dnf install rabbitmq-server, macOS: brew install rabbitmq),"
    " or name one that runs by ALDEBARAN_RABBITMQ_URL, or take rabbitmq out of ALDEBARAN_CHANNELS"
)
NAMES: Final = "rabbitmq-names"
_NODES_HERE_ONLY: Final = "-kernel inet_dist_use_interface {127,0,0,1}"
"""Erlang's own port listens everywhere else; RabbitMQ's scripts split this at spaces only."""
_GREETING: Final = b"AMQP\x00\x00\x09\x01"


@dataclass(frozen=True)
class RabbitmqNode:
    """One node on 127.0.0.1: its data, its ports, its name; `settings_file` is its own, if any."""

    folder: Path
    port: int
    nodes_port: int
    names_port: int
    name: str = "aldebaran"
    settings_file: Path | None = None

    def environment(self) -> dict[str, str]:
        """Return what its programs read; nothing of the system's own node is used."""
        return {
            "HOME": str(self.folder),
            "RABBITMQ_NODENAME": f"{self.name}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(self.nodes_port),
            "ERL_EPMD_PORT": str(self.names_port),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_MNESIA_BASE": str(self.folder / "mnesia"),
            "RABBITMQ_LOG_BASE": str(self.folder / "log"),
            "RABBITMQ_LOGS": "-",
            "RABBITMQ_PID_FILE": str(self.folder / "pid"),
            "RABBITMQ_CONF_ENV_FILE": os.devnull,
            "RABBITMQ_CONFIG_FILE": str(self.settings_file or self.folder / "rabbitmq.conf"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.folder / "plugins"),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": f"+S 1:1 +sbwt none {_NODES_HERE_ONLY}",
        }


@dataclass(frozen=True)
class AmqpReadiness:
    """Ready when 127.0.0.1:`port` answers the first bytes of the protocol."""

    port: int

    def is_ready(self) -> bool:
        """Ask once."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=2) as connection:
                connection.sendall(_GREETING)
                return bool(connection.recv(1))
        except OSError:
            return False


def find_server(places: Iterable[Path] = PLACES) -> Path:
    """Return the server's program; raises MachineProblem with the command that installs it."""
    for place in places:
        if (server := place / "rabbitmq-server").is_file():
            return server
    raise MachineProblem(MISSING)


def programs(node: RabbitmqNode, server: Path) -> tuple[Program, Program]:
    """Return Erlang's name server, which would else outlive everything, and the node."""
    environment = node.environment()
    names = (_names_server(), "-port", str(node.names_port), "-address", "127.0.0.1")
    return (
        Program(NAMES, names, environment, TcpReadiness(node.names_port)),
        Program(
            "rabbitmq",
            (str(server),),
            environment,
            AmqpReadiness(node.port),
            after=(NAMES,),
            stop_timeout_seconds=20.0,
        ),
    )


def _names_server() -> str:
    """Erlang comes with it; where it is not on the PATH the node would not start either."""
    return shutil.which("epmd", path=os.environ.get("PATH")) or "epmd"
