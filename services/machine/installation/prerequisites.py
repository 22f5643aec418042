"""What must be on the machine before `make setup`: Python, its venv module, Java and make.

This module runs on a bare Python before the project's environment exists, so it imports only the
standard library.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

PYTHON = f"python{sys.version_info[0]}.{sys.version_info[1]}"
PYTHON_MINIMUM = (3, 11)
PYTHON_MAXIMUM = (3, 14)
"""The newest for which each locked package that is compiled comes compiled."""
JAVA_VERSIONS = (17, 21)
JAVA_FOLDERS = (
    Path("/usr/lib/jvm"),
    Path("/Library/Java/JavaVirtualMachines"),
    # Homebrew's openjdk@21 is not on the PATH, only here: on Apple's processors and on Intel's.
    Path("/opt/homebrew/opt"),
    Path("/usr/local/opt"),
)
JAVA_ANSWER_SECONDS = 20

INSTALL_COMMANDS = {
    "debian": {
        "python": "sudo apt-get install python3.11-venv",
        "older_python": "sudo apt-get install python3.14-venv",
        "venv": "sudo apt-get install {python}-venv",
        # Debian 12 has no 21, Debian 13 no 17.
        "java": "sudo apt-get install openjdk-21-jre-headless"
        " || sudo apt-get install openjdk-17-jre-headless",
        "make": "sudo apt-get install make",
    },
    "fedora": {
        "python": "sudo dnf install python3.11",
        "older_python": "sudo dnf install python3.14",
        "venv": "sudo dnf install python3.11",
        "java": "sudo dnf install java-21-openjdk-headless",
        "make": "sudo dnf install make",
    },
    "macos": {
        "python": "brew install python@3.12",
        "older_python": "brew install python@3.14",
        "venv": "brew install python@3.12",
        "java": "brew install openjdk@21",
        "make": "xcode-select --install",
    },
}


@dataclass(frozen=True)
class Missing:
    """One prerequisite that is not there: its `key` in INSTALL_COMMANDS and what was found."""

    key: str
    found: str


@dataclass(frozen=True)
class Java:
    """What a Java says of itself: its major version, and the folder that is its JAVA_HOME."""

    major: int
    home: Path


def python_version_problem(version: tuple[int, ...]) -> Missing | None:
    """Say what is wrong with a Python `version` such as (3, 9, 2); None means it will do."""
    if PYTHON_MINIMUM <= version[:2] <= PYTHON_MAXIMUM:
        return None
    key = "python" if version < PYTHON_MINIMUM else "older_python"
    actual = ".".join(str(part) for part in version[:3])
    return Missing(key, f"Python {python_range()} is needed, this is {actual}")


def python_range() -> str:
    """Name the versions of Python that will do, as pages do: 3.11 to 3.14."""
    first, last = (
        ".".join(str(part) for part in each) for each in (PYTHON_MINIMUM, PYTHON_MAXIMUM)
    )
    return f"{first} to {last}"


def this_python_problem() -> Missing | None:
    """Say what is wrong with the version of the Python that runs this."""
    return python_version_problem(tuple(sys.version_info[:3]))


def venv_problem() -> Missing | None:
    """Say whether this Python lacks what virtual environments are made with."""
    if importlib.util.find_spec("ensurepip") is not None:
        return None
    return Missing("venv", f"{PYTHON}'s venv module (ensurepip) is needed")


def java_major(version_output: str) -> int | None:
    """Read the major version (17, or 8 for 1.8) from what `java -version` prints."""
    match = re.search(r'version "(\d+)(?:\.(\d+))?', version_output)
    if match is None:
        return None
    major = int(match.group(1))
    return int(match.group(2) or 0) if major == 1 else major


def java_said(output: str) -> Java | None:
    """Read what `java -XshowSettings:properties -version` prints."""
    major, home = java_major(output), re.search(r"^\s*java\.home = (.+)$", output, re.MULTILINE)
    return Java(major, Path(home.group(1))) if major is not None and home else None


def java_candidates(environment: Mapping[str, str], folders: tuple[Path, ...]) -> list[Path]:
    """List the Java programs to try, best first: JAVA_HOME, PATH, then the usual folders."""
    candidates = []
    if environment.get("JAVA_HOME"):
        candidates.append(Path(environment["JAVA_HOME"]) / "bin" / "java")
    on_path = shutil.which("java", path=environment.get("PATH", ""))
    if on_path:
        candidates.append(Path(on_path))
    for folder in folders:
        candidates += sorted(folder.glob("*/bin/java"), reverse=True)
        candidates += sorted(folder.glob("*/Contents/Home/bin/java"), reverse=True)
    return [candidate for candidate in candidates if candidate.is_file()]


def ask_java(java: Path) -> Java | None:
    """Run `java -version` and return what it says of itself, None where it does not answer."""
    try:
        answer = subprocess.run(
            [str(java), "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=JAVA_ANSWER_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return java_said(answer.stderr + answer.stdout)


def find_java(
    environment: Mapping[str, str],
    folders: tuple[Path, ...] = JAVA_FOLDERS,
    ask: Callable[[Path], Java | None] = ask_java,
) -> Path | Missing:
    """Return the first Java program of a supported version, or what was found instead.

    It is the program in Java's own home: what stands on the PATH may be a version manager's. Where
    there is none in that home, it is the program that answered.
    """
    seen = []
    for candidate in java_candidates(environment, folders):
        java = ask(candidate)
        if java is not None and java.major in JAVA_VERSIONS:
            own = java.home / "bin" / "java"
            return own if own.is_file() else candidate.resolve()
        seen.append(f"{candidate} is {java.major if java else 'not a Java that answers'}")
    wanted = " or ".join(str(version) for version in JAVA_VERSIONS)
    return Missing("java", f"Java {wanted} is needed, " + ("; ".join(seen) or "none was found"))


def family(system: str, os_release: str) -> str | None:
    """Name the family of install commands: `system` as platform.system(), text of os-release."""
    if system == "Darwin":
        return "macos"
    words = set(re.findall(r'^ID(?:_LIKE)?="?([^"\n]*)', os_release, re.MULTILINE))
    ids = {word for line in words for word in line.split()}
    if ids & {"debian", "ubuntu"}:
        return "debian"
    if ids & {"fedora", "rhel", "centos"}:
        return "fedora"
    return None


def advice(missing: Missing, machine_family: str | None, python: str = PYTHON) -> str:
    """Write one line that names what is missing and the command that installs it.

    `python` names the interpreter that `make` has chosen, as packages do: python3.12.
    """
    commands = {
        name: commands[missing.key].format(python=python)
        for name, commands in INSTALL_COMMANDS.items()
    }
    if machine_family is not None:
        return f"{missing.found}. Install it: {commands[machine_family]}"
    told = "; ".join(f"{name}: {command}" for name, command in commands.items())
    return f"{missing.found}. Install it ({told})"


def find_missing(environment: Mapping[str, str]) -> list[Missing]:
    """Look at this machine and list every prerequisite that is not there."""
    missing = [this_python_problem() or venv_problem()]
    java = find_java(environment)
    missing.append(java if isinstance(java, Missing) else None)
    if shutil.which("make", path=environment.get("PATH", "")) is None:
        missing.append(Missing("make", "make is needed"))
    return [entry for entry in missing if entry is not None]


def tell_java_home() -> int:
    """Print the home of the Java that is used; exit code 1 where there is none."""
    java = find_java(os.environ)
    if isinstance(java, Missing):
        return 1
    sys.stdout.write(f"{java.parents[1]}\n")
    return 0


def main(arguments: list[str]) -> int:
    """Print each missing prerequisite to standard error; exit code 0 when nothing is missing.

    With the argument `java-home` print that instead; with `python` print nothing, and judge only
    the version of the Python that runs this.
    """
    if arguments == ["java-home"]:
        return tell_java_home()
    if arguments == ["python"]:
        return 1 if this_python_problem() else 0
    release = Path("/etc/os-release")
    text = release.read_text(encoding="utf-8") if release.is_file() else ""
    missing = find_missing(os.environ)
    for entry in missing:
        sys.stderr.write(f"setup: {advice(entry, family(platform.system(), text))}\n")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
