"""Small disks of a run's own, which can be filled up, and made slow where the system can do that.

A disk is a file behind a loop device, so that it has a device's limits; who may not make one gets a
file system in memory, which can only fill up. Both are seen by the run's own processes alone.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from tests.acceptance.system import System
from tests.chaos.cells import Fault

LIMIT = Path("/sys/fs/cgroup/blkio/blkio.throttle.write_iops_device")
"""Where a limit for all of the system is set (cgroup v1)."""
MOUNT, MAKE = "mount", "mkfs.ext4"
FILLER = "filler"
CHUNK = bytes(1024 * 1024)


class Kind(StrEnum):
    """What disks this machine lets a run have."""

    NONE = "none"
    MEMORY = "memory"
    LOOP = "loop"


@dataclass(frozen=True)
class Disks:
    """The disks of a running system: `folders` of its state by the program that each one serves."""

    system: System
    kind: Kind
    folders: Mapping[str, str]

    def allow(self, fault: Fault) -> bool:
        """Tell whether this machine lets disks have that fault."""
        needed = {Fault.FULL: (Kind.MEMORY, Kind.LOOP), Fault.SLOW: (Kind.LOOP,)}
        return self.kind in needed.get(fault, Kind)

    def of(self, program: str) -> Path:
        """Return where a program's disk is seen from here."""
        return self.system.state(self.folders[program])


def kind_here() -> Kind:
    """Return the best kind that this user may have."""
    if not may_mount():
        return Kind.NONE
    loop = os.geteuid() == 0 and os.access(LIMIT, os.W_OK) and shutil.which(MAKE)
    return Kind.LOOP if loop and Path("/dev/loop-control").exists() else Kind.MEMORY


def may_mount() -> bool:
    """Tell whether this machine lets a process have disks of its own."""
    if shutil.which("unshare") is None:
        return False
    mount = (MOUNT, "-t", "tmpfs", "-o", "size=1m", "tmpfs", "/mnt")
    trial = subprocess.run((*unshare(), *mount), capture_output=True, check=False)
    return trial.returncode == 0


def unshare() -> tuple[str, ...]:
    """Return the command that lets a process mount disks that only it sees."""
    who = () if os.geteuid() == 0 else ("--user", "--map-root-user")
    return ("unshare", *who, "--mount")


def mount(kind: Kind, folder: Path, mebibytes: int) -> None:
    """Give a folder a disk of its own, which only this process and its children see."""
    folder.mkdir(parents=True, exist_ok=True)
    if kind is Kind.MEMORY:
        size = f"size={mebibytes}m,mode=700"
        _do(MOUNT, "-t", "tmpfs", "-o", size, "tmpfs", str(folder))
        return
    image = folder.with_name(f"{folder.name}.disk")
    with image.open("wb") as file:
        file.truncate(mebibytes * 1024 * 1024)
    _do(MAKE, "-q", "-m", "0", str(image))
    _do(MOUNT, "-o", "loop", str(image), str(folder))
    folder.chmod(0o700)
    (folder / "lost+found").rmdir()


@contextmanager
def full(folder: Path) -> Iterator[None]:
    """Fill a disk to its last byte while the block lasts."""
    filler = folder / FILLER
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(CHUNK):
            pass
    try:
        yield
    finally:
        filler.unlink()


@contextmanager
def slow(folder: Path, writes_per_second: int) -> Iterator[None]:
    """Let a disk take no more than so many writes a second while the block lasts."""
    device = folder.stat().st_dev
    place = f"{os.major(device)}:{os.minor(device)}"
    LIMIT.write_text(f"{place} {writes_per_second}\n")
    try:
        yield
    finally:
        LIMIT.write_text(f"{place} 0\n")


def _do(*command: str) -> None:
    subprocess.run(command, check=True)
