"""Makes the Python environment from the list of pinned packages; one process at a time.

    python packages.py <folder of the environment> <list of packages with hashes>

Two runs of make at once, or of two checkouts that share the environment, wait for each other. This
runs on a bare Python before the environment exists, so it imports only the standard library.
"""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

STAMP = ".requirements-dev.lock"
"""A copy of the list that is installed; written last."""
UNFINISHED = ".unfinished"
"""Beside the environment while one is made or installed in; found at a start, it was cut short."""
EXIT_INTERRUPTED = 130
BUILT = "pyspark"
"""Comes as source: pip builds it for as long as all others take, so a pip of its own does that."""
BUILDS = "setuptools"
"""What builds it, and is there before: by itself pip fetches its newest, whatever that is."""
ITS_OWN = ("--no-deps", "--no-build-isolation", "--use-pep517")
ELSEWHERE = ("PYTHONPATH", "PYTHONHOME")
"""What lies there is no part of the environment, though pip takes it for installed."""


def ensure(
    venv: Path, wanted: Path, create: Callable[[Path], None], install: Callable[[Path, Path], None]
) -> bool:
    """Install what is wanted unless it is there already; return whether anything was done.

    An environment whose last installation was cut short is made anew from nothing, and so is one
    that does not work any more.
    """
    with held(venv.with_name(venv.name + ".lock")):
        stamp, unfinished = venv / STAMP, venv.with_name(venv.name + UNFINISHED)
        text, usable = wanted.read_bytes(), works(venv)
        if usable and stamp.is_file() and stamp.read_bytes() == text:
            stamp.touch()
            return False
        anew = not usable or unfinished.exists()
        unfinished.touch()
        if anew:
            create(venv)
        stamp.unlink(missing_ok=True)
        install(venv, wanted)
        written = stamp.with_name(STAMP + ".new")
        written.write_bytes(text)
        written.replace(stamp)
        unfinished.unlink()
        return True


def works(venv: Path) -> bool:
    """Say whether there is an environment whose Python finds its packages.

    It is the system's own: after an upgrade it is gone, or looks for packages of its new version.
    """
    asked = [str(venv / "bin" / "python"), "-I", "-c", "import pip"]
    try:
        return subprocess.run(asked, stderr=subprocess.DEVNULL, check=False).returncode == 0
    except OSError:
        return False


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
    """Install the pinned packages, each with its hash.

    What pip writes for a while, some 2 GiB to build pyspark (reckoned), lies beside the
    environment: /tmp may be in memory. A TMPDIR that the user names is used.
    """
    sys.stdout.write("Installing Python packages; the first time this takes some minutes.\n")
    sys.stdout.flush()
    rest, builds, built = split(wanted.read_text("utf-8"))
    with folder_beside(venv) as folder, ThreadPoolExecutor() as pool:
        if builds:
            _pip(venv, builds, folder / "builds", ())
        parts = [(rest, folder / "rest", ()), (built, folder / "built", ITS_OWN)]
        runs = [pool.submit(_pip, venv, *each) for each in parts if each[0]]
        for run in runs:  # here, so that the folder is removed when an interrupted pip has ended
            run.result()


@contextmanager
def folder_beside(venv: Path) -> Iterator[Path]:
    """Make a folder beside the environment, and remove it at the end."""
    above = venv.parent.resolve()  # pip builds in another folder, where no relative name leads here
    with tempfile.TemporaryDirectory(
        prefix=f"{venv.name}.", dir=above, ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder)


def _pip(venv: Path, packages: str, place: Path, options: Sequence[str]) -> None:
    place.write_text(packages, "utf-8")
    always = ("--quiet", "--disable-pip-version-check", "--require-hashes", "-r", str(place))
    command = [str(venv / "bin" / "pip"), "install", *options, *always]
    temporary = os.environ.get("TMPDIR") or str(place.parent)
    told = {name: value for name, value in os.environ.items() if name not in ELSEWHERE}
    subprocess.run(command, env={**told, "TMPDIR": temporary}, check=True)


def split(lock: str) -> tuple[str, str, str]:
    """Return all else, what builds, and what is built; any of them may be empty."""
    packages = re.split(r"^(?=\S)", lock, flags=re.MULTILINE)
    builds, built = (
        "".join(each for each in packages if each.startswith(f"{name}=="))
        for name in (BUILDS, BUILT)
    )
    return "".join(each for each in packages if each not in (builds, built)), builds, built


def main(arguments: list[str]) -> int:
    """Make the environment; return pip's exit code where it failed."""
    venv, wanted = (Path(each) for each in arguments)
    try:
        ensure(venv, wanted, create_venv, pip_install)
    except subprocess.CalledProcessError as failed:
        sys.stderr.write("setup: the packages could not be installed; what failed is above\n")
        return failed.returncode
    except OSError as error:
        told = f"{error.filename or venv} cannot be used ({error.strerror})"
        sys.stderr.write(f"setup: {told}; another folder is named by ALDEBARAN_TOOLS\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("setup: interrupted; what is half made is made anew the next time\n")
        return EXIT_INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
