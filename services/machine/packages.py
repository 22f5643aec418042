"""Makes the Python environment from the list of pinned packages; one process at a time.

    python packages.py <folder of the environment> <list of packages with hashes>

Two runs of make at once, or of two checkouts that share the environment, wait for each other. This
runs on a bare Python before the environment exists, so it imports only the standard library.
"""

from __future__ import annotations

import fcntl
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

STAMP = ".requirements-dev.lock"
"""A copy of the list that is installed; written last."""
UNFINISHED = ".unfinished"
"""There while an installation is under way; found without one, it was cut short."""


def ensure(
    venv: Path, wanted: Path, create: Callable[[Path], None], install: Callable[[Path, Path], None]
) -> bool:
    """Install what is wanted unless it is there already; return whether anything was done.

    An environment whose last installation was cut short is made anew from nothing.
    """
    with held(venv.with_name(venv.name + ".lock")):
        stamp, unfinished = venv / STAMP, venv / UNFINISHED
        text = wanted.read_bytes()
        if stamp.is_file() and stamp.read_bytes() == text:
            stamp.touch()
            return False
        if not (venv / "bin" / "python").exists() or unfinished.exists():
            create(venv)
        unfinished.touch()
        stamp.unlink(missing_ok=True)
        install(venv, wanted)
        written = stamp.with_name(STAMP + ".new")
        written.write_bytes(text)
        written.replace(stamp)
        unfinished.unlink()
        return True


@contextmanager
def held(lock: Path) -> Iterator[None]:
    """Wait until nobody else holds the lock, and hold it; the system lets go of it at our end."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("a") as opened:
        fcntl.flock(opened.fileno(), fcntl.LOCK_EX)
        yield


def create_venv(venv: Path) -> None:
    """Make an empty environment, by its real path: its programs begin with it."""
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(venv.resolve())], check=True)


def pip_install(venv: Path, wanted: Path) -> None:
    """Install the pinned packages, each with its hash."""
    sys.stdout.write("Installing Python packages; the first time this takes some minutes.\n")
    sys.stdout.flush()
    options = ["--quiet", "--disable-pip-version-check", "--require-hashes"]
    subprocess.run([str(venv / "bin" / "pip"), "install", *options, "-r", str(wanted)], check=True)


def main(arguments: list[str]) -> int:
    """Make the environment; return pip's exit code where it failed."""
    venv, wanted = (Path(each) for each in arguments)
    try:
        ensure(venv, wanted, create_venv, pip_install)
    except subprocess.CalledProcessError as failed:
        sys.stderr.write("setup: the packages could not be installed; what failed is above\n")
        return failed.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
