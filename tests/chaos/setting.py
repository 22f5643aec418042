"""The whole system with three brokers, everything between its programs and stores behind doors."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from tests.acceptance.system import CHANNELS, System
from tests.chaos.doors import Doors
from tests.chaos.machine import VARIABLE, Behind
from tests.chaos.stage import BROKERS, Stage, programs

DISKS = {"kafka-2": "kafka-2", "postgres": "postgres", "auditor-a": "auditor/a"}
"""Programs with small disks of their own, and the folders of the state that these hold."""
DISK_MEBIBYTES = 400


class Unshared(System):
    """A system whose state is partly on disks that only its own processes see."""

    def state(self, *parts: str) -> Path:
        """Look through the run's own eyes."""
        root = Path("/proc", str(self.process.pid), "root")
        return root.joinpath(str(self.home).lstrip("/"), *parts)


@contextmanager
def behind_doors(home: Path, batch_seconds: int) -> Iterator[Stage]:
    """Run everything while the block lasts."""
    system = Unshared(home, channels=CHANNELS, kafka_nodes=3)
    doors = Doors(lambda: owners(system))
    disks = DISKS if may_mount() else {}
    system.environment |= {
        VARIABLE: opened(doors, system, disks).model_dump_json(),
        "ALDEBARAN_KAFKA_HEAP_MEBIBYTES": "256",
        "ALDEBARAN_AUDITOR_BATCH_SECONDS": str(batch_seconds),
    }
    unshare = ("unshare", *namespaces()) if disks else ()
    system.command = (*unshare, sys.executable, "-m", "tests.chaos.machine")
    try:
        system.start()
        yield Stage(system, doors, disks)
    finally:
        system.stop()
        doors.close()


def opened(doors: Doors, system: System, disks: dict[str, str]) -> Behind:
    """Open a door where clients look for each store; return where the stores shall listen."""

    def behind(store: str, port: str) -> int:
        return doors.add(store, system.port(port.replace("-", "_")))

    sizes = dict.fromkeys(disks.values(), DISK_MEBIBYTES)
    brokers = [(behind(name, name), behind(name, f"{name}_controller")) for name in BROKERS]
    return Behind(brokers=brokers, postgres=behind("postgres", "postgres"), disks_mebibytes=sizes)


def owners(system: System) -> dict[int, str]:
    """Return the program behind each local TCP port of the run."""
    found = {}
    for name, processes in programs(system.process).items():
        for process in processes:
            with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                for each in process.net_connections("tcp"):
                    found[each.laddr.port] = name
    return found


def namespaces() -> tuple[str, ...]:
    """Return what a process needs to mount disks that only it sees."""
    return ("--mount",) if os.geteuid() == 0 else ("--user", "--map-root-user", "--mount")


def may_mount() -> bool:
    """Tell whether this machine lets a process have disks of its own."""
    mount = ("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", "/mnt")
    if shutil.which("unshare") is None:
        return False
    command = ("unshare", *namespaces(), *mount)
    trial = subprocess.run(command, capture_output=True, check=False)
    return trial.returncode == 0
