"""A broker that a test may stop, kill and start again."""

import os
from pathlib import Path

from services.machine import broker, child, setup
from services.machine.child import Child
from services.machine.ports import free_ports


class OwnBroker:
    """Runs from its making on; its place and its files stay the same.

    Where clients are to reach it by another port than its own, `told_port` is that port.
    """

    def __init__(self, tools: Path, folder: Path, told_port: int | None = None) -> None:
        port, controller_port = free_ports(2)
        self.node = broker.BrokerNode(
            folder / "kafka", port, controller_port, heap_mebibytes=256, told_port=told_port
        )
        self._java = setup.required_java(os.environ)
        self._jars = setup.jars_folder(tools, "broker")
        self._log_file = folder / "kafka.log"
        broker.prepare(self.node, self._java, self._jars)
        self.running = self.start()

    def start(self) -> Child:
        """Start it and wait until it serves."""
        program = broker.program(self.node, self._java, self._jars)
        self.running = child.start_and_wait(program, self._log_file, os.environ)
        return self.running

    def kill(self) -> None:
        """End it with SIGKILL."""
        self.running.end(0)
