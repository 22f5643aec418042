"""A broker that a test may stop, kill and start again, and what it may be told to forbid."""

import os
from pathlib import Path
from typing import Final

from confluent_kafka.admin import (  # type: ignore[attr-defined] # public, and not declared to be
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from services.machine.installation import setup
from services.machine.ports import free_ports
from services.machine.servers import broker
from services.machine.supervision import child
from services.machine.supervision.child import Child
from services.machine.waiting import wait_until

GUARDED: Final = """
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
allow.everyone.if.no.acl.found=true
"""
"""Properties of a broker that can be told to forbid; what no rule is about, everybody may do."""


class OwnBroker:
    """Runs from its making on; its place and its files stay the same.

    Where clients are to reach it by another port than its own, `told_port` is that port;
    `more` are properties beside ours.
    """

    def __init__(
        self, tools: Path, folder: Path, told_port: int | None = None, more: str = ""
    ) -> None:
        port, controller_port = free_ports(2)
        self.node = broker.BrokerNode(
            folder / "kafka", port, controller_port, heap_mebibytes=256, told_port=told_port
        )
        self._java = setup.required_java(os.environ)
        self._jars = setup.jars_folder(tools, "broker")
        self._log_file = folder / "kafka.log"
        broker.prepare(self.node, self._java, self._jars)
        with (self.node.folder / "server.properties").open("a") as properties:
            properties.write(more)
        self.running = self.start()

    def start(self) -> Child:
        """Start it and wait until it serves."""
        program = broker.program(self.node, self._java, self._jars)
        self.running = child.start_and_wait(program, self._log_file, os.environ)
        return self.running

    def kill(self) -> None:
        """End it with SIGKILL."""
        self.running.end(0)


def bar_writers(bootstrap: str) -> None:
    """Let nobody begin to write, so that each new producer ends; the broker must be GUARDED."""
    forbid(bootstrap, "*", AclOperation.WRITE)
    forbid(bootstrap, "kafka-cluster", AclOperation.IDEMPOTENT_WRITE, kind=ResourceType.BROKER)


def forbid(
    bootstrap: str,
    name: str,
    operation: AclOperation,
    who: str = "User:*",
    kind: ResourceType = ResourceType.TOPIC,
) -> None:
    """Let somebody do everything with a topic but one thing; its broker must be GUARDED."""
    place = (kind, name, ResourcePatternType.LITERAL, who, "*")
    rules = [
        AclBinding(*place, AclOperation.ALL, AclPermissionType.ALLOW),
        AclBinding(*place, operation, AclPermissionType.DENY),
    ]
    client = AdminClient({"bootstrap.servers": bootstrap})
    for answer in client.create_acls(rules).values():
        answer.result(timeout=30)
    # A broker knows a rule a moment after the controller has kept it.
    barred = AclBindingFilter(*place, operation, AclPermissionType.DENY)
    wait_until(lambda: bool(client.describe_acls(barred).result(timeout=30)), 20, "no rule")
