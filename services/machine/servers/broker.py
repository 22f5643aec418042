"""The real Kafka broker from its jars: a node that is broker and controller, alone or with more."""

import base64
import json
import shutil
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path

from services.backbone import class_archive
from services.machine.problems import MachineProblem
from services.machine.servers.preparing import Preparation, carry_out
from services.machine.supervision.programs import Program
from services.machine.supervision.readiness import KafkaReadiness

MESSAGE_LIMIT_BYTES = 8 * 1024 * 1024
FORMAT_TIMEOUT_SECONDS = 60
REPLICATION_LIMIT = 3
MEBIBYTE = 1024 * 1024
STOP_SECONDS = 20.0
STOP_WITH_OTHERS_SECONDS = 6.0
"""Without a quorum a node waits for minutes to be let go; what was acknowledged survives a kill."""

OLD_AFTER_ONE_PAUSE = "-XX:MaxTenuringThreshold=1"
"""Kafka's histograms link new to old objects, and each pause reads all such links: they had better
be few. It halves the collector's pauses (docs/reports/tuning.md)."""


@dataclass(frozen=True)
class Voter:
    """One member of the controllers' quorum."""

    node_id: int
    host: str
    port: int

    def __str__(self) -> str:
        """The voter as Kafka spells it."""
        return f"{self.node_id}@{self.host}:{self.port}"


@dataclass(frozen=True)
class BrokerNode:
    """One node: where it listens, where it keeps its data, who votes, how much heap it may use.

    With no `voters` the node is a cluster of its own. Where clients and the other nodes reach it
    by other ports than those it listens on, `told_port` and `told_controller_port` name them.
    """

    folder: Path
    port: int
    controller_port: int
    host: str = "127.0.0.1"
    node_id: int = 1
    voters: tuple[Voter, ...] = ()
    heap_mebibytes: int = 384
    told_port: int | None = None
    told_controller_port: int | None = None

    @property
    def quorum(self) -> tuple[Voter, ...]:
        """All voters; the node itself where none were given."""
        return self.voters or (
            Voter(self.node_id, self.host, self.told_controller_port or self.controller_port),
        )

    @property
    def name(self) -> str:
        """The name of the node's program."""
        return "kafka" if self.node_id == 1 else f"kafka-{self.node_id}"

    @property
    def data(self) -> Path:
        """Where its copies are."""
        return self.folder.resolve() / "data"

    @property
    def bootstrap(self) -> str:
        """The address clients connect to."""
        return f"{self.host}:{self.told_port or self.port}"


@dataclass(frozen=True)
class Stamp:
    """What a storage was formatted for: which cluster, of how many nodes."""

    cluster_id: str
    nodes: int = 1


def server_properties(node: BrokerNode) -> str:
    """Write the node's settings: quick answers, little disk and memory, no surprises."""
    copies = min(REPLICATION_LIMIT, len(node.quorum))
    in_sync = max(1, copies - 1)
    properties: dict[str, object] = {
        "process.roles": "broker,controller",
        "node.id": node.node_id,
        "controller.quorum.voters": ",".join(str(voter) for voter in node.quorum),
        "listeners": _listeners(node.host, node.port, node.controller_port),
        "advertised.listeners": _listeners(
            node.host,
            node.told_port or node.port,
            node.told_controller_port or node.controller_port,
        ),
        "listener.security.protocol.map": "CLIENTS:PLAINTEXT,CONTROLLERS:PLAINTEXT",
        "inter.broker.listener.name": "CLIENTS",
        "controller.listener.names": "CONTROLLERS",
        "log.dirs": _one_folder(node.data),
        "auto.create.topics.enable": "false",
        "message.max.bytes": MESSAGE_LIMIT_BYTES,
        "replica.fetch.max.bytes": MESSAGE_LIMIT_BYTES,
        "default.replication.factor": copies,
        "min.insync.replicas": in_sync,
        "offsets.topic.num.partitions": 5,
        "offsets.topic.replication.factor": copies,
        "transaction.state.log.num.partitions": 5,
        "transaction.state.log.replication.factor": copies,
        "transaction.state.log.min.isr": in_sync,
        "share.coordinator.state.topic.num.partitions": 1,
        "share.coordinator.state.topic.replication.factor": copies,
        "share.coordinator.state.topic.min.isr": in_sync,
        "group.initial.rebalance.delay.ms": 0,
        "num.network.threads": 2,
        "num.io.threads": 4,
        "background.threads": 2,
        "num.recovery.threads.per.data.dir": 1,
        "log.segment.bytes": 64 * MEBIBYTE,
        "log.index.size.max.bytes": MEBIBYTE,
        "log.cleaner.dedupe.buffer.size": 4 * MEBIBYTE,
        "controlled.shutdown.max.retries": 1,
        # So long nobody leads what a killed node led, and nobody may come back under its id.
        "broker.session.timeout.ms": 2000,
        "broker.heartbeat.interval.ms": 250,
        # So long before that where the killed node was the controller; a healthy one may be silent
        # for 500 ms.
        "controller.quorum.fetch.timeout.ms": 1500,
        # So long each write waits for a copy on a node that lives and does not copy.
        "replica.lag.time.max.ms": 4000,
    }
    return "".join(f"{name}={_escaped(str(value))}\n" for name, value in properties.items())


def _one_folder(data: Path) -> Path:
    """Return the folder of a node's data; raises MachineProblem where Kafka would see several."""
    if "," in str(data):
        raise MachineProblem(
            f"Kafka takes {data} for more than one folder, as there is a comma in it: name a folder"
            " without one by ALDEBARAN_HOME"
        )
    return data


def _escaped(value: str) -> str:
    """Return a value as Java reads it from a file of properties, where each byte is a letter."""
    units = value.replace("\\", "\\\\").encode("utf-16-be")
    pairs = (int.from_bytes(units[at : at + 2]) for at in range(0, len(units), 2))
    return "".join(chr(unit) if 32 <= unit < 127 else f"\\u{unit:04x}" for unit in pairs)


def _listeners(host: str, port: int, controller_port: int) -> str:
    return f"CLIENTS://{host}:{port},CONTROLLERS://{host}:{controller_port}"


LOGGING_PROPERTIES = """\
status = warn
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} %p %c{1}: %m%n
rootLogger.level = warn
rootLogger.appenderRef.out.ref = out
logger.server.name = kafka.server.KafkaRaftServer
logger.server.level = info
"""


def prepare(node: BrokerNode, java: Path, jars: Path, cluster_id: str | None = None) -> None:
    """Write the node's settings and format its storage, once; a formatting cut short is redone.

    All nodes of one cluster must be given the same `cluster_id`; a single node makes its own.
    """
    node.folder.mkdir(parents=True, exist_ok=True)
    (node.folder / "server.properties").write_text(server_properties(node), "utf-8")
    (node.folder / "log4j2.properties").write_text(LOGGING_PROPERTIES, "utf-8")
    if formatted(node) is not None:
        return
    shutil.rmtree(node.data, ignore_errors=True)
    identity = cluster_id or new_cluster_id()
    _format(node, java, jars, identity)
    stamp = Stamp(identity, len(node.quorum))
    unfinished = node.folder / "formatted.new"
    unfinished.write_text(json.dumps(asdict(stamp)), "utf-8")
    unfinished.replace(node.folder / "formatted.json")


def formatted(node: BrokerNode) -> Stamp | None:
    """Return for which cluster the node's storage was formatted, or None."""
    stamp = node.folder / "formatted.json"
    return Stamp(**json.loads(stamp.read_text("utf-8"))) if stamp.is_file() else None


def new_cluster_id() -> str:
    """Make a cluster id as Kafka spells it: 16 random bytes in URL-safe base64."""
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")


def program(node: BrokerNode, java: Path, jars: Path) -> Program:
    """Return how to run a prepared node."""
    heap = (f"-Xms{node.heap_mebibytes * 2 // 3}m", f"-Xmx{node.heap_mebibytes}m")
    # Said, since Java takes another one where it sees one core or less than 2 GiB.
    collector = ("-XX:+UseG1GC", OLD_AFTER_ONE_PAUSE, "-XX:+ExitOnOutOfMemoryError")
    return Program(
        name=node.name,
        command=(
            str(java),
            *heap,
            *collector,
            *_java_options(node, java, jars),
            "kafka.Kafka",
            str(node.folder.resolve() / "server.properties"),
        ),
        readiness=KafkaReadiness(node.host, node.port),
        stop_timeout_seconds=STOP_SECONDS if len(node.quorum) == 1 else STOP_WITH_OTHERS_SECONDS,
    )


def classes(java: Path, jars: Path) -> Path:
    """Return where Java's archive of the broker's classes is, or would be."""
    return class_archive.place(java, jars.resolve())


def _java_options(node: BrokerNode, java: Path, jars: Path) -> tuple[str, ...]:
    logging = node.folder.resolve() / "log4j2.properties"
    return (
        *class_archive.options(java, jars.resolve()),
        "-Djava.awt.headless=true",
        f"-Dlog4j2.configurationFile={logging}",
        "-cp",
        f"{jars.resolve()}/*",
    )


def _format(node: BrokerNode, java: Path, jars: Path, cluster_id: str) -> None:
    settings = str(node.folder.resolve() / "server.properties")
    command = [
        str(java),
        "-XX:TieredStopAtLevel=1",
        *_java_options(node, java, jars),
        *("kafka.tools.StorageTool", "format", f"--cluster-id={cluster_id}", "-c", settings),
    ]
    failed = "the broker's storage cannot be formatted"
    carry_out(Preparation(command, failed, FORMAT_TIMEOUT_SECONDS))
