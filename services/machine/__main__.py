"""`python -m services.machine run | jars | classes | clean-state`."""

import argparse
import os
import sys
from collections.abc import Mapping
from io import TextIOWrapper
from pathlib import Path
from typing import Final

from services.backbone.inherited import JAVAS_LOCALE
from services.backbone.settings import read_settings
from services.backbone.spelling import sentence, unknown_settings
from services.machine import home
from services.machine.classes import archive_classes
from services.machine.installation.packages import EXIT_INTERRUPTED
from services.machine.installation.setup import install_jars, jars_folder, required_java
from services.machine.plan import api_key, routes
from services.machine.plan.environment import environment, own_keys
from services.machine.plan.everything import plan, rabbitmq_node
from services.machine.plan.far_ends import Inbox, named_settings, taken_over_by
from services.machine.plan.machine import Machine
from services.machine.ports import check_ports
from services.machine.problems import MachineProblem, told_of_disk
from services.machine.servers import cluster, postgres, rabbitmq
from services.machine.settings import MachineSettings
from services.machine.supervision.cores import cores_here
from services.machine.supervision.interrupts import Interrupts
from services.machine.supervision.restarts import RestartPolicy
from services.machine.supervision.supervisor import Supervisor, Surroundings
from services.machine.terminal.voice import say
from services.machine.terminal.welcome import welcome
from services.machine.waiting import now_seconds

_HELP: Final = """Aldebaran on one machine: what `make` calls. Settings: ALDEBARAN_HOME,
ALDEBARAN_CHANNELS, ALDEBARAN_PORT_...; all of them in docs/settings.md."""
HOME: Final = "ALDEBARAN_HOME"
TOOLS: Final = "ALDEBARAN_TOOLS"


def run() -> int:
    """Start everything and keep it running until a signal comes."""
    settings = read_settings(MachineSettings)
    if unknown := unknown_settings(os.environ):
        say(f"warning: {sentence(unknown)}")
    with (
        told_of_disk(settings.home, HOME),
        home.occupied(settings.home),
        Interrupts() as interrupts,
    ):
        check_ports(settings.ports(taken_over_by(Inbox(settings), named_settings(os.environ))))
        machine = declared(settings)
        prepare(machine)
        code = kept_running(machine, environment(machine, os.environ), interrupts)
    say("stopped; nothing is left running")
    return code


def declared(settings: MachineSettings) -> Machine:
    """Find Java and the stores' programs, and say where everything of this machine is."""
    where = settings.home.resolve()
    named = named_settings(os.environ)
    return Machine(
        settings,
        java=required_java(os.environ),
        binaries=postgres.find_binaries(),
        brokers=cluster.of_settings(settings, where),
        server=postgres.PostgresServer(where / "postgres", settings.port_postgres),
        api_key=api_key.ApiKey(where),
        rabbitmq_server=rabbitmq_server(Inbox(settings), named),
        named=named,
        cores=cores_here(),
    )


def prepare(machine: Machine) -> None:
    """Make keys, and make the stores ready to start."""
    say("starting Aldebaran; Ctrl-C stops everything")
    api_key.prepare(machine.api_key)
    api_key.prepare(machine.operator_key)
    postgres.prepare(machine.server, machine.binaries)
    cluster.prepare(machine.brokers, machine.java, jars_folder(machine.tools, "broker"))
    prepare_far_ends(machine)


def kept_running(machine: Machine, inherited: Mapping[str, str], interrupts: Interrupts) -> int:
    """Run the prepared machine's programs over a base environment; return the exit code."""
    surroundings = Surroundings(
        environment=inherited,
        logs=machine.home / "log",
        say=say,
        wait=interrupts.wait,
        now_seconds=now_seconds,
    )
    programs = plan(machine)
    replaced = own_keys(machine, os.environ)
    lines = welcome(programs, machine, inherited, replaced)
    return Supervisor(programs, surroundings, RestartPolicy(), lambda: say(lines)).run()


def rabbitmq_server(inbox: Inbox, named: frozenset[str]) -> Path | None:
    """Return RabbitMQ's program, where one is to run; raises MachineProblem where it is missing."""
    used = "rabbitmq" in inbox.settings.channels and "rabbitmq" not in taken_over_by(inbox, named)
    return rabbitmq.find_server() if used else None


def prepare_far_ends(machine: Machine) -> None:
    """Make ready what deliveries go to."""
    routes.prepare(machine.settings)
    if "nagios" in machine.settings.channels:
        Inbox(machine.settings).spool.mkdir(parents=True, exist_ok=True)
    if machine.rabbitmq_server is not None:
        rabbitmq_node(machine.settings).folder.mkdir(parents=True, exist_ok=True)


def jars() -> int:
    """Fetch the listed jars that are missing."""
    tools = read_settings(MachineSettings).tools
    with told_of_disk(tools, TOOLS):
        fetched = install_jars(tools, os.environ)
    if fetched:
        say(f"{fetched} jars fetched and verified")
    return 0


def classes() -> int:
    """Have Java archive Spark's classes; a machine where it cannot works all the same."""
    tools = read_settings(MachineSettings).tools
    with told_of_disk(tools, TOOLS):
        archive_classes(tools, os.environ)
    return 0


def clean_state() -> int:
    """Remove all state."""
    folder = read_settings(MachineSettings).home
    with told_of_disk(folder, HOME):
        removed = home.remove(folder)
    if not removed:
        say("there is no state")
    elif folder.is_dir():
        why = "it is a link, is or has a mount, or is not ours"
        say(f"{folder} emptied; the folder itself stays: {why}")
    else:
        say(f"{folder} removed")
    return 0


def main(arguments: list[str]) -> int:
    """Carry out one command; return the exit code."""
    commands = {"run": run, "jars": jars, "classes": classes, "clean-state": clean_state}
    os.environ.update(JAVAS_LOCALE)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal need not know every letter
            stream.reconfigure(errors="replace")
    parser = argparse.ArgumentParser("python -m services.machine", description=_HELP)
    told = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in commands.items():
        told.add_parser(name, help=command.__doc__)
    try:
        return commands[parser.parse_args(arguments).command]()
    except MachineProblem as problem:
        sys.stderr.write(f"aldebaran: {problem}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("aldebaran: interrupted\n")
        return EXIT_INTERRUPTED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
