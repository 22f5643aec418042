"""Java libraries by an explicit list: fetched once, verified by checksum, never resolved."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from services.machine.problems import MachineProblem

LOCK_FILE = Path(__file__).with_name("jars.lock")
CHECKSUM_CHUNK_BYTES = 1 << 20
SHA256_HEX_LENGTH = 64


@dataclass(frozen=True)
class Jar:
    """One library: Maven coordinates and the checksum its file must have."""

    group: str
    artifact: str
    version: str
    sha256: str
    classifier: str = ""
    """Names another file of the same version, for example one that brings what it needs."""

    @property
    def file_name(self) -> str:
        """The name of the file, as in `kafka-clients-4.2.0.jar`."""
        return f"{'-'.join(filter(None, (self.artifact, self.version, self.classifier)))}.jar"


Fetch = Callable[[Sequence[Jar], Path], None]


def parse_lock(text: str) -> Mapping[str, tuple[Jar, ...]]:
    """Read a lock file into jars per set (`broker`, `spark`).

    Raises MachineProblem with the line number where a line is not understood.
    """
    sets: dict[str, list[Jar]] = {}
    current: list[Jar] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        content = line.strip()
        if not content or content.startswith("#"):
            continue
        if content.startswith("[") and content.endswith("]"):
            current = sets.setdefault(content[1:-1], [])
        elif current is None:
            raise MachineProblem(f"jars.lock line {number}: a [set] must come first")
        else:
            current.append(_parse_jar(content, number))
    return {name: tuple(jars) for name, jars in sets.items()}


def _parse_jar(content: str, number: int) -> Jar:
    coordinates, _, sha256 = content.partition(" ")
    parts = coordinates.split(":")
    checksum_fits = len(sha256) == SHA256_HEX_LENGTH and set(sha256) <= set("0123456789abcdef")
    if len(parts) not in {3, 4} or not all(parts) or not checksum_fits:
        raise MachineProblem(
            f"jars.lock line {number}: expected 'group:artifact:version[:classifier] sha256',"
            f" found {content!r}"
        )
    return Jar(parts[0], parts[1], parts[2], sha256, *parts[3:])


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file as hexadecimal text."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(CHECKSUM_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def install(folder: Path, jars: Sequence[Jar], fetch: Fetch, built: Collection[str] = ()) -> int:
    """Make `folder` hold exactly `jars`, each with its checksum; return how many were fetched.

    Files that are named in `built` may lie there too.

    A file is renamed into place only after its checksum was verified, so an interruption leaves
    nothing half written. Raises MachineProblem where a fetched file has another checksum.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _remove_unlisted(folder, {*(jar.file_name for jar in jars), *built})
    missing = [jar for jar in jars if not _is_installed(folder / jar.file_name, jar)]
    if missing:
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix="fetch-") as staging:
            fetch(missing, Path(staging))
            for jar in missing:
                _move_verified(Path(staging) / jar.file_name, folder / jar.file_name, jar)
    return len(missing)


def _is_installed(path: Path, jar: Jar) -> bool:
    return path.is_file() and sha256_of(path) == jar.sha256


def _remove_unlisted(folder: Path, listed: Collection[str]) -> None:
    """An old version left behind would be loaded beside the new one."""
    for path in folder.iterdir():
        if path.name in listed and path.is_file():
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _move_verified(source: Path, target: Path, jar: Jar) -> None:
    if not source.is_file():
        raise MachineProblem(f"{jar.file_name} was not fetched; run `make setup` again")
    actual = sha256_of(source)
    if actual != jar.sha256:
        source.unlink()
        raise MachineProblem(
            f"{jar.file_name} has checksum {actual}, but {jar.sha256} is expected: the file was"
            " removed. A proxy or mirror may have answered with another file; if the version was"
            " changed on purpose, correct services/machine/installation/jars.lock"
        )
    os.replace(source, target)
