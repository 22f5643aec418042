"""The whole system with three brokers, everything between its programs and stores behind doors."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from tests.acceptance.system import CHANNELS, System
from tests.chaos.changes import Declared
from tests.chaos.disks import Disks, Kind, kind_here, unshare
from tests.chaos.doors import Doors
from tests.chaos.machine import VARIABLE, Behind
from tests.chaos.stage import BROKERS, Stage, programs

DISKS = {**{name: name for name in BROKERS}, "postgres": "postgres", "auditor-a": "auditor/a"}
"""The folders of the state that are disks of their own, by program."""
DISK_MEBIBYTES = 1024
"""Of each: Postgres alone had filled 400 after three quarters of an hour, unasked."""


class Unshared(System):
    """A system whose state is partly on disks that only its own processes see."""

    def state(self, *parts: str) -> Path:
        """Look through the run's own eyes."""
        root = Path("/proc", str(self.process.pid), "root")
        return root.joinpath(str(self.home).lstrip("/"), *parts)


@contextmanager
def behind_doors(home: Path, batch_seconds: int) -> Iterator[Stage]:
    """Run everything while the block lasts."""
    system = Unshared(home, channels=CHANNELS, kafka_nodes=3, deliverers=2)
    doors = Doors(lambda: owners(system))
    disks = Disks(system, kind_here(), DISKS)
    declared = Declared(home.parent / "watches", home / "log")
    system.environment |= {
        VARIABLE: opened(doors, system, disks.kind).model_dump_json(),
        "ALDEBARAN_KAFKA_HEAP_MEBIBYTES": "256",
        "ALDEBARAN_AUDITOR_WATCHES": str(declared.folder),
        "ALDEBARAN_AUDITOR_BATCH_SECONDS": str(batch_seconds),
    }
    own = unshare() if disks.kind is not Kind.NONE else ()
    system.command = (*own, sys.executable, "-m", "tests.chaos.machine")
    try:
        system.start()
        yield Stage(system, doors, disks, declared)
    finally:
        system.stop()
        doors.close()


def opened(doors: Doors, system: System, kind: Kind) -> Behind:
    """Open a door where clients look for each store; return where the stores shall listen."""

    def behind(store: str, port: str) -> int:
        return doors.add(store, system.port(port.replace("-", "_")))

    brokers = [(behind(name, name), behind(name, f"{name}_controller")) for name in BROKERS]
    return Behind(
        brokers=brokers,
        postgres=behind("postgres", "postgres"),
        disk=kind,
        disks_mebibytes={} if kind is Kind.NONE else dict.fromkeys(DISKS.values(), DISK_MEBIBYTES),
    )


def owners(system: System) -> dict[int, str]:
    """Return the program behind each local TCP port of the run."""
    names = {
        process.pid: name
        for name, processes in programs(system.process).items()
        for process in processes
    }
    return {
        each.laddr.port: names[each.pid]
        for each in psutil.net_connections("tcp")
        if each.laddr and each.pid in names
    }
