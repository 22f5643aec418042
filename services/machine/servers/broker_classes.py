"""Has Java archive the broker's classes, by running one for nobody in a folder that goes away."""

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from services.backbone import class_archive
from services.backbone.class_archive import NotMade
from services.machine.ports import free_ports
from services.machine.problems import MachineProblem
from services.machine.servers import broker
from services.machine.supervision import child


def archive_classes(java: Path, jars: Path, environment: Mapping[str, str]) -> None:
    """Make the archive, unless there is one that fits.

    Raises:
        NotMade: the broker did not start, Java wrote none, or the disk refused it.
    """
    wanted = broker.classes(java, jars)
    if not wanted.exists():
        class_archive.keep(wanted, lambda option: _run(option, java, jars, environment))


def _run(option: str, java: Path, jars: Path, environment: Mapping[str, str]) -> None:
    """Run a broker with one more option of Java's until it serves, and see it end."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        port, controller_port = free_ports(2)
        node = broker.BrokerNode(home / "kafka", port, controller_port)
        try:
            broker.prepare(node, java, jars)
            program = broker.program(node, java, jars)
            told = replace(program, command=(program.command[0], option, *program.command[1:]))
            child.start_and_wait(told, home / "kafka.log", environment).stop()
        except MachineProblem as problem:
            raise NotMade(str(problem)) from None
