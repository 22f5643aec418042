"""`python -m services.machine run | jars | clean-state`."""

import os
import sys

from services.backbone.settings import read_settings
from services.machine import api_key, broker, home, postgres
from services.machine.interrupts import Interrupts
from services.machine.plan import Machine, environment, plan
from services.machine.ports import check_ports
from services.machine.problems import MachineProblem
from services.machine.restarts import RestartPolicy
from services.machine.settings import MachineSettings
from services.machine.setup import install_jars, jars_folder, required_java
from services.machine.supervisor import Supervisor, Surroundings
from services.machine.waiting import now_seconds
from services.machine.welcome import welcome

USAGE = "usage: python -m services.machine run | jars | clean-state"
EXIT_USAGE = 64


def run() -> int:
    """Start everything and keep it running until a signal comes."""
    settings = read_settings(MachineSettings)
    with home.occupied(settings.home), Interrupts() as interrupts:
        check_ports(settings.ports())
        say("starting Aldebaran; Ctrl-C stops everything")
        machine = prepared(settings)
        surroundings = Surroundings(
            environment=environment(machine, os.environ),
            logs=machine.home / "log",
            say=say,
            wait=interrupts.wait,
            now_seconds=now_seconds,
        )
        programs = plan(machine)
        supervisor = Supervisor(
            programs, surroundings, RestartPolicy(), lambda: say(welcome(programs, machine))
        )
        code = supervisor.run()
    say("stopped; nothing is left running")
    return code


def prepared(settings: MachineSettings) -> Machine:
    """Find Java and the stores' programs, and make both stores ready to start."""
    where = settings.home.resolve()
    java = required_java(os.environ)
    binaries = postgres.find_binaries()
    server = postgres.PostgresServer(where / "postgres", settings.port_postgres)
    node = broker.BrokerNode(
        where / "kafka",
        settings.port_kafka,
        settings.port_kafka_controller,
        heap_mebibytes=settings.kafka_heap_mebibytes,
    )
    key = api_key.ApiKey(where)
    api_key.prepare(key)
    api_key.prepare(api_key.operator_key(where))
    postgres.prepare(server, binaries)
    broker.prepare(node, java, jars_folder(settings.tools, "broker"))
    return Machine(settings, java, binaries, node, server, key)


def jars() -> int:
    """Fetch the listed jars that are missing."""
    fetched = install_jars(read_settings(MachineSettings).tools, os.environ)
    if fetched:
        say(f"{fetched} jars fetched and verified")
    return 0


def clean_state() -> int:
    """Remove all state."""
    settings = read_settings(MachineSettings)
    say(f"{settings.home} removed" if home.remove(settings.home) else "there is no state")
    return 0


def say(text: str) -> None:
    """Show text to the user at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main(arguments: list[str]) -> int:
    """Carry out one command; return the exit code."""
    commands = {"run": run, "jars": jars, "clean-state": clean_state}
    if len(arguments) != 1 or arguments[0] not in commands:
        sys.stderr.write(USAGE + "\n")
        return EXIT_USAGE
    try:
        return commands[arguments[0]]()
    except MachineProblem as problem:
        sys.stderr.write(f"aldebaran: {problem}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
