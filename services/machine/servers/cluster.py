"""The brokers of one machine: one node, or three that keep three copies of everything."""

from dataclasses import dataclass, replace
from pathlib import Path

from services.machine.problems import MachineProblem
from services.machine.servers import broker, broker_disks
from services.machine.servers.broker import BrokerNode, Voter
from services.machine.settings import MachineSettings
from services.machine.supervision.programs import Program


@dataclass(frozen=True)
class BrokerCluster:
    """Nodes that are one cluster; at least one."""

    nodes: tuple[BrokerNode, ...]

    @property
    def bootstrap(self) -> str:
        """The addresses that clients are told."""
        return ",".join(node.bootstrap for node in self.nodes)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the nodes' programs."""
        return tuple(node.name for node in self.nodes)

    @property
    def copies(self) -> int:
        """How many copies of each topic the cluster keeps."""
        return min(broker.REPLICATION_LIMIT, len(self.nodes))


def of_settings(at: MachineSettings, home: Path) -> BrokerCluster:
    """Return the cluster that the settings ask for, its state under `home`."""
    ports = (
        (at.port_kafka, at.port_kafka_controller),
        (at.port_kafka_2, at.port_kafka_2_controller),
        (at.port_kafka_3, at.port_kafka_3_controller),
    )
    return cluster(home, ports[: at.kafka_nodes], at.kafka_heap_mebibytes)


def cluster(
    home: Path, ports: tuple[tuple[int, int], ...], heap_mebibytes: int = 384
) -> BrokerCluster:
    """Return a cluster of one node for each pair of ports: for clients, for controllers."""
    host = BrokerNode.host
    numbered = list(enumerate(ports, start=1))
    voters = tuple(Voter(number, host, controller) for number, (_, controller) in numbered)
    nodes = [
        BrokerNode(
            home / ("kafka" if number == 1 else f"kafka-{number}"),
            port,
            controller,
            node_id=number,
            voters=voters,
            heap_mebibytes=heap_mebibytes,
        )
        for number, (port, controller) in numbered
    ]
    return BrokerCluster(tuple(nodes))


def prepare(brokers: BrokerCluster, java: Path, jars: Path) -> None:
    """Write all nodes' settings and format what is not formatted yet, under one cluster id.

    Raises MachineProblem where the state is that of another number of nodes: new ones, which know
    nothing, could outvote the one that knows all.
    """
    stamps = [stamp for node in brokers.nodes if (stamp := broker.formatted(node))]
    for stamp in stamps:
        if stamp.nodes != len(brokers.nodes):
            raise MachineProblem(
                f"the state was made by {stamp.nodes} Kafka node(s), asked are"
                f" {len(brokers.nodes)}: set ALDEBARAN_KAFKA_NODES={stamp.nodes}, name another"
                " folder by ALDEBARAN_HOME, or remove all state with `make clean-state`"
            )
    identity = stamps[0].cluster_id if stamps else broker.new_cluster_id()
    for node in brokers.nodes:
        broker.prepare(node, java, jars, identity)


def programs(brokers: BrokerCluster, java: Path, jars: Path) -> tuple[Program, ...]:
    """Return how to run the prepared nodes; all of them may start at once."""
    lives = broker_disks.livenesses(brokers.nodes)
    return tuple(
        replace(broker.program(node, java, jars), liveness=lives.get(node.name))
        for node in brokers.nodes
    )
