"""Has Java archive the broker's classes, by running one for nobody in a folder that goes away."""

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from services.backbone import class_archive
from services.machine import broker, child
from services.machine.ports import free_ports


def archive_classes(java: Path, jars: Path, environment: Mapping[str, str]) -> None:
    """Make the archive, unless there is one that fits.

    Raises:
        NotMade: Java wrote none, or the disk refused it.
        MachineProblem: the broker does not start.
    """
    wanted = broker.classes(java, jars)
    if wanted.exists():
        return
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        port, controller_port = free_ports(2)
        node = broker.BrokerNode(home / "kafka", port, controller_port)
        broker.prepare(node, java, jars)

        def run(option: str) -> None:
            program = broker.program(node, java, jars)
            told = replace(program, command=(program.command[0], option, *program.command[1:]))
            running = child.start_and_wait(told, home / "kafka.log", environment)
            running.stop()

        class_archive.keep(wanted, run)
