"""Adds to a list of packages what else is installed.

    python -m services.machine.installation.inventory SBOM [--jars FOLDER] [--system ROOT]

A folder's jars and a Debian system's packages are added to a list of packages in CycloneDX's JSON,
as cyclonedx-py writes it of Python's packages.
"""

import argparse
import json
import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from services.machine.installation.debian import installed
from services.machine.installation.jars import LOCK_FILE, Jar, parse_lock, sha256_of

_PROPERTIES: Final = re.compile(r"META-INF/maven/([^/]+)/([^/]+)/pom\.properties")
_FILE_NAME: Final = re.compile(r"(?P<name>.+?)-(?P<version>\d.*)\.jar")


class Component(Protocol):
    """What can stand in the list."""

    def component(self) -> dict[str, Any]:
        """Return it as CycloneDX 1.6 has it."""


@dataclass(frozen=True, slots=True)
class Library:
    """One jar; `group` is empty where neither the lock file nor the jar itself tells it."""

    group: str
    name: str
    version: str
    sha256: str

    def component(self) -> dict[str, Any]:
        """Return the jar as CycloneDX 1.6 has it."""
        told = {"type": "library", "name": self.name, "version": self.version}
        hashes = [{"alg": "SHA-256", "content": self.sha256}]
        if not self.group:
            return {**told, "bom-ref": f"{self.name}-{self.version}.jar", "hashes": hashes}
        purl = f"pkg:maven/{self.group}/{self.name}@{self.version}"
        return {**told, "group": self.group, "bom-ref": purl, "purl": purl, "hashes": hashes}


def library(path: Path, locked: Iterable[Jar]) -> Library:
    """Return what a jar is: by the lock file, else by its own words, else by its file's name."""
    parts = _FILE_NAME.fullmatch(path.name)
    name, version = (parts["name"], parts["version"]) if parts else (path.stem, "")
    groups = [jar.group for jar in locked if jar.file_name == path.name]
    group = next(iter(groups or _own_groups(path, name)), "")
    return Library(group, name, version, sha256_of(path))


def _own_groups(path: Path, name: str) -> list[str]:
    """Other libraries' words are in there too where one jar holds several."""
    with zipfile.ZipFile(path) as jar:
        found = [_PROPERTIES.fullmatch(entry) for entry in jar.namelist()]
    return [each[1] for each in found if each and each[2] == name]


def libraries(folder: Path) -> list[Library]:
    """Return what the jars of a folder are, in their files' order."""
    locked = [jar for jars in parse_lock(LOCK_FILE.read_text("utf-8")).values() for jar in jars]
    return [library(path, locked) for path in sorted(folder.glob("*.jar"))]


def listing(listed: dict[str, Any], found: Iterable[Component]) -> dict[str, Any]:
    """Return the list with what was found behind what it has."""
    added = [each.component() for each in found]
    return {**listed, "components": [*listed.get("components", ()), *added]}


def main(arguments: list[str] | None = None) -> None:
    """Add what the arguments name to the list in a file."""
    parser = argparse.ArgumentParser(prog="python -m services.machine.installation.inventory")
    parser.add_argument("sbom", type=Path)
    parser.add_argument("--jars", type=Path, metavar="FOLDER")
    parser.add_argument("--system", type=Path, metavar="ROOT")
    named = parser.parse_args(arguments)
    found: list[Component] = []
    found += libraries(named.jars) if named.jars else []
    found += installed(named.system) if named.system else []
    listed = listing(json.loads(named.sbom.read_text("utf-8")), found)
    named.sbom.write_text(json.dumps(listed, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
