"""One machine: what its plan and its environment are made from."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from services.machine.plan.api_key import ApiKey, operator_key
from services.machine.servers.cluster import BrokerCluster
from services.machine.servers.postgres import PostgresServer
from services.machine.settings import MachineSettings


@dataclass(frozen=True)
class Machine:
    """What the plan is made from: settings, and what preparing the stores has found."""

    settings: MachineSettings
    java: Path
    binaries: Path
    brokers: BrokerCluster
    server: PostgresServer
    api_key: ApiKey
    rabbitmq_server: Path | None = None
    """RabbitMQ's program, where channel rabbitmq is in use and the user names no other server."""
    named: frozenset[str] = frozenset()
    """The settings that the user names."""
    cores: tuple[int, ...] = ()
    """The processors that programs can be told to keep to, neighbours beside each other."""

    @property
    def operator_key(self) -> ApiKey:
        """The key for the lookout's API, beside the gateway's."""
        return operator_key(self.api_key.folder)

    @property
    def tools(self) -> Path:
        """The folder of the virtual environment and the jars."""
        return self.settings.tools.resolve()

    @property
    def home(self) -> Path:
        """The folder of all state."""
        return self.settings.home.resolve()

    @property
    def stores(self) -> dict[str, str]:
        """Where every program finds the stores of this machine."""
        return {
            "ALDEBARAN_KAFKA_BOOTSTRAP_SERVERS": self.brokers.bootstrap,
            "ALDEBARAN_POSTGRES_URL": self.server.url(),
        }

    def unless_named(self, told: Mapping[str, str]) -> dict[str, str]:
        """Return those of these settings that the user does not name."""
        return {name: value for name, value in told.items() if name not in self.named}
