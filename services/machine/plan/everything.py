"""Everything that runs on one machine, as one expression."""

import json
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from services.machine.installation.setup import jars_folder
from services.machine.plan.far_ends import Inbox, taken_over_by
from services.machine.plan.machine import Machine
from services.machine.plan.routes import told_of_findings
from services.machine.servers import cluster, postgres, rabbitmq
from services.machine.settings import MIRROR, MachineSettings
from services.machine.supervision.cores import halves
from services.machine.supervision.programs import Program
from services.machine.supervision.readiness import HttpLiveness, HttpReadiness, HttpWork

STORES = ("postgres", "kafka", "topics")
AUDITORS = ("a", "b")
TO_END_SECONDS = 2.0
"""A service that has not drained in time ends by itself: so long it is let do that."""


def plan(machine: Machine) -> tuple[Program, ...]:
    """Return every program, each after those it needs; add a service by adding a line."""
    at = machine.settings
    others = (
        postgres.program(machine.server, machine.binaries),
        *cluster.programs(machine.brokers, machine.java, jars_folder(machine.tools, "broker")),
        topics_program(machine.brokers),
        terminal(),
        *own_rabbitmq(machine),
        inbox(machine),
        service("services.gateway", at.port_gateway),
        *auditors(machine),
        *lookouts(at.lookout_ports),
        heartbeat(at),
        *(
            each
            for channel in at.channels
            for each in deliverers(channel, at.deliverer_ports(channel))
        ),
        *((simulator(machine),) if at.simulator_dials else ()),
        *((archivist(machine),) if at.archivist else ()),
        *((service("services.gateway.amqp", at.port_amqp),) if at.amqp else ()),
        *((accountant(machine),) if at.accountant else ()),
        *((callbacks(at),) if at.callbacks else ()),
        *((rehearsal(machine),) if at.rehearsal else ()),
    )
    return tuple(with_time_to_drain(each, at) for each in (*others, console(machine, others)))


def set_anyway(programs: Iterable[Program], machine: Machine) -> tuple[str, ...]:
    """Return the settings that programs get from the plan though the user names them."""
    own = {name for program in programs for name in program.environment}
    return tuple(sorted((own | machine.stores.keys()) & machine.named))


def with_time_to_drain(program: Program, at: MachineSettings) -> Program:
    """Return a service of ours with more time to stop than it gives itself; others as they are."""
    if not isinstance(program.readiness, HttpReadiness):
        return program
    return replace(program, stop_timeout_seconds=at.drain_timeout_seconds + TO_END_SECONDS)


def python(module: str) -> tuple[str, ...]:
    """Return the command of a Python module."""
    return (sys.executable, "-m", module)


def service(
    module: str,
    port: int,
    *arguments: str,
    name: str = "",
    after: tuple[str, ...] = STORES,
    settings: Mapping[str, str] | None = None,
) -> Program:
    """Return a Python service with its pages on `port`, ready when its page says so."""
    own = name or module.rpartition(".")[2]
    told = {"ALDEBARAN_HTTP_PORT": str(port), "ALDEBARAN_KAFKA_GROUP_INSTANCE_ID": own}
    return Program(
        name=own,
        command=(*python(module), *arguments),
        environment={**told, **(settings or {})},
        readiness=HttpReadiness(port),
        liveness=HttpLiveness(port),
        work=HttpWork(port),
        after=after,
    )


def auditors(machine: Machine) -> tuple[Program, ...]:
    """Return one auditor, or two whose batches end half a batch apart.

    The second starts when the first is ready, unless each has processors of its own: two at once
    on the same would both be late.
    """
    at, (a, b) = machine.settings, AUDITORS
    first = auditor(machine, a, at.port_auditor, phase=0.0)
    if at.auditors == 1:
        return (first,)
    second = auditor(machine, b, at.port_auditor_b, phase=0.5)
    for_a, for_b = halves(machine.cores if at.auditors_apart else ())
    after = second.after if for_b else (*second.after, first.name)
    return replace(first, cores=for_a), replace(second, cores=for_b, after=after)


def auditor(machine: Machine, ident: str, port: int, phase: float) -> Program:
    """Return a Spark application that runs the watches; Spark takes its time to start."""
    settings = {
        "ALDEBARAN_AUDITOR_ID": ident,
        "ALDEBARAN_AUDITOR_PHASE": str(phase),
        "ALDEBARAN_AUDITOR_JARS": str(jars_folder(machine.tools, "spark")),
        "ALDEBARAN_S3_JARS": str(jars_folder(machine.tools, "s3")),
        "ALDEBARAN_AUDITOR_CHECKPOINTS": str(machine.home / "auditor"),
    }
    started = service("auditor", port, name=f"auditor-{ident}", settings=settings)
    return on_scratch(machine, replace(started, ready_timeout_seconds=180.0))


def on_scratch(machine: Machine, program: Program) -> Program:
    """Return a Spark application with one folder for all that it leaves there when it is killed."""
    folder = machine.home / "scratch" / program.name
    told = {"SPARK_LOCAL_DIRS": str(folder), "TMPDIR": str(folder)}
    return replace(program, scratch=folder, environment={**program.environment, **told})


def lookouts(ports: Sequence[int]) -> tuple[Program, ...]:
    """Return the lookout, or it and its mirror, so that no alert waits for one that is dead."""
    return mirrored("services.lookout", ports)


def mirrored(
    module: str,
    ports: Sequence[int],
    *,
    name: str = "",
    after: tuple[str, ...] = STORES,
    settings: Mapping[str, str] | None = None,
) -> tuple[Program, ...]:
    """Return a Python service for each of one or two ports, the second as the first's mirror."""
    own = name or module.rpartition(".")[2]
    return tuple(
        service(
            module,
            port,
            name=each,
            after=after,
            settings={**(settings or {}), "ALDEBARAN_ORDINAL": str(ordinal)},
        )
        for ordinal, (each, port) in enumerate(zip((own, own + MIRROR), ports, strict=False))
    )


def heartbeat(at: MachineSettings) -> Program:
    """Return the program that measures the auditors, and compares what they raise."""
    names = json.dumps(AUDITORS[: at.auditors])
    return service(
        "services.heartbeat",
        at.port_heartbeat,
        after=(*STORES, "auditor-a"),
        settings={"ALDEBARAN_HEARTBEAT_AUDITORS": names},
    )


def archivist(machine: Machine) -> Program:
    """Return the Spark application that archives; it lets the auditor start first."""
    places = {
        "ALDEBARAN_ARCHIVIST_ARCHIVE": str(machine.home / "archive"),
        "ALDEBARAN_ARCHIVIST_STATE": str(machine.home / "archivist"),
    }
    settings = {
        "ALDEBARAN_ARCHIVIST_JARS": str(jars_folder(machine.tools, "spark")),
        "ALDEBARAN_S3_JARS": str(jars_folder(machine.tools, "s3")),
        **machine.unless_named(places),
    }
    port, after = machine.settings.port_archivist, (*STORES, "auditor-a")
    started = service("archivist", port, after=after, settings=settings)
    return on_scratch(machine, replace(started, ready_timeout_seconds=180.0))


def deliverers(channel: str, ports: Sequence[int]) -> tuple[Program, ...]:
    """Return the deliverer of one channel, or two; the inbox makes Apple's account."""
    after = (*STORES, "inbox") if channel == "push" else STORES
    return mirrored(
        "services.deliverer",
        ports,
        name=f"deliverer-{channel}",
        after=after,
        settings={"ALDEBARAN_CHANNEL": channel},
    )


def accountant(machine: Machine) -> Program:
    """Return the program that compares what was found with what was delivered.

    It tells on two channels, so that it can tell of trouble on one, and beats at the inbox.
    """
    at = machine.settings
    told = {
        "ALDEBARAN_ACCOUNTANT_RECIPIENTS": json.dumps(told_of_findings(at)),
        "ALDEBARAN_ACCOUNTANT_HEARTBEAT_URL": f"{Inbox(at).web}/beats/accountant",
    }
    settings = machine.unless_named(told)
    return service("services.accountant", at.port_accountant, settings=settings)


def rehearsal(machine: Machine) -> Program:
    """Return the program that tries watches; it starts a Spark only while one is tried."""
    settings = {"ALDEBARAN_AUDITOR_JARS": str(jars_folder(machine.tools, "spark"))}
    port = machine.settings.port_rehearsal
    return on_scratch(machine, service("services.rehearsal", port, settings=settings))


def callbacks(at: MachineSettings) -> Program:
    """Return the door for what providers and people tell back."""
    settings = {"ALDEBARAN_CALLBACKS_PORT": str(at.port_callbacks_public)}
    return service("services.callbacks", at.port_callbacks, settings=settings)


def console(machine: Machine, others: tuple[Program, ...]) -> Program:
    """Return the page, which looks at every program that has pages of its own."""
    parts = {
        each.name: f"http://127.0.0.1:{each.readiness.port}"
        for each in others
        if isinstance(each.readiness, HttpReadiness)
    }
    settings = machine.unless_named({"ALDEBARAN_CONSOLE_PARTS": json.dumps(parts)})
    return service("services.console", machine.settings.port_console, settings=settings)


def own_rabbitmq(machine: Machine) -> tuple[Program, ...]:
    """Return RabbitMQ's programs, where this machine is to run one."""
    if machine.rabbitmq_server is None:
        return ()
    return rabbitmq.programs(rabbitmq_node(machine.settings), machine.rabbitmq_server)


def rabbitmq_node(at: MachineSettings) -> rabbitmq.RabbitmqNode:
    """Return the node of RabbitMQ that this machine runs."""
    folder = at.home.resolve() / "rabbitmq"
    return rabbitmq.RabbitmqNode(
        folder, at.port_rabbitmq, at.port_rabbitmq_nodes, at.port_rabbitmq_names
    )


def inbox(machine: Machine) -> Program:
    """Return the far end of every channel in which a person sees deliveries arrive."""
    at = machine.settings
    settings = {
        "ALDEBARAN_INBOX_SMTP_PORT": str(at.port_inbox_smtp),
        "ALDEBARAN_INBOX_HOOK_PORT": str(at.port_inbox_hook),
        **Inbox(at).told(taken_over_by(Inbox(at), machine.named)),
    }
    after = ("rabbitmq",) if machine.rabbitmq_server else ()
    return service("services.simulator.inbox", at.port_inbox, after=after, settings=settings)


def simulator(machine: Machine) -> Program:
    """Return the source of simulated events; it starts when an alert can go all the way."""
    at = machine.settings
    settings = {"ALDEBARAN_SIMULATOR_GATEWAY_URL": f"http://127.0.0.1:{at.port_gateway}"}
    started = service(
        "services.simulator",
        at.port_simulator,
        *shlex.split(at.simulator_dials),
        after=("gateway", "auditor-a", "lookout"),
        settings=settings,
    )
    return replace(started, may_end=True)


def topics_program(brokers: cluster.BrokerCluster) -> Program:
    """Return the program that declares the topics, with as many copies as the nodes can keep."""
    settings = {"ALDEBARAN_TOPIC_COPIES": str(brokers.copies)}
    return Program("topics", python("services.topics"), settings, after=brokers.names, once=True)


def terminal() -> Program:
    """Return the program that shows alerts and deliveries to whoever typed `make run`.

    It writes what the terminal reads, though all programs read their files as UTF-8.
    """
    command = python("services.machine.terminal")
    letters = {"PYTHONIOENCODING": f"{sys.stdout.encoding}:replace"}
    return Program("terminal", command, letters, after=("topics",), on_terminal=True)
