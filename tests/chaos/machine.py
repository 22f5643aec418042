"""`python -m tests.chaos.machine`: `make run` with stores behind doors, and on disks that fill up.

The environment says where the doors are, as ports of the stores; `CHAOS_BEHIND` says where the
stores listen, and which folders of the state get a small disk of their own.
"""

import os
import sys
from dataclasses import replace

from pydantic import BaseModel

from services.backbone.settings import read_settings
from services.machine import home
from services.machine.__main__ import declared, kept_running, prepare
from services.machine.plan.environment import environment
from services.machine.plan.machine import Machine
from services.machine.servers.broker import BrokerNode
from services.machine.settings import MachineSettings
from services.machine.supervision.interrupts import Interrupts
from tests.chaos.disks import Kind, mount

VARIABLE = "CHAOS_BEHIND"


class Behind(BaseModel):
    """Where the stores listen: brokers (clients, controllers) and Postgres; sizes of disks."""

    brokers: list[tuple[int, int]]
    postgres: int
    disk: Kind = Kind.NONE
    disks_mebibytes: dict[str, int] = {}


def behind_doors(machine: Machine, behind: Behind) -> Machine:
    """Move the stores to where they listen; clients are told of the doors."""
    nodes = zip(machine.brokers.nodes, behind.brokers, strict=True)
    moved = tuple(moved_node(node, *ports) for node, ports in nodes)
    return replace(
        machine,
        brokers=replace(machine.brokers, nodes=moved),
        server=replace(machine.server, port=behind.postgres),
    )


def moved_node(node: BrokerNode, port: int, controller_port: int) -> BrokerNode:
    """Let the node listen elsewhere than it tells."""
    return replace(
        node,
        port=port,
        controller_port=controller_port,
        told_port=node.port,
        told_controller_port=node.controller_port,
    )


def main() -> int:
    """Run until a signal comes."""
    settings = read_settings(MachineSettings)
    behind = Behind.model_validate_json(os.environ[VARIABLE])
    with home.occupied(settings.home), Interrupts() as interrupts:
        for name, mebibytes in behind.disks_mebibytes.items():
            mount(behind.disk, settings.home / name, mebibytes)
        told = declared(settings)
        machine = behind_doors(told, behind)
        prepare(machine)
        around = environment(machine, os.environ)
        around["ALDEBARAN_POSTGRES_URL"] = told.server.url()
        return kept_running(machine, around, interrupts)


if __name__ == "__main__":
    sys.exit(main())
