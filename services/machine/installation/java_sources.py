"""Compiles our few Java classes into a jar, by a compiler that is a jar: a JRE is enough."""

import hashlib
import os
import subprocess
import tempfile
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from services.machine.problems import MachineProblem

RELEASE: Final = "17"
COMPILE_TIMEOUT_SECONDS: Final = 300
_DIGEST_LENGTH: Final = 12
_ZIP_EPOCH: Final = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Compiler:
    """The Java program, the compiler's jar, and the jars that sources may use."""

    java: Path
    jar: Path
    libraries: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Sources:
    """A folder of Java sources, and what their jar is called."""

    folder: Path
    name: str

    def files(self) -> list[Path]:
        """Return the source files, in a sequence that is always the same."""
        return sorted(self.folder.rglob("*.java"))

    def jar_name(self, compiler: Path) -> str:
        """Return the jar's file name: it changes with the sources and with the compiler."""
        digest = hashlib.sha256(f"{compiler.name} {RELEASE}".encode())
        for file in self.files():
            digest.update(f"\n{file.relative_to(self.folder)}\n".encode() + file.read_bytes())
        return f"{self.name}-{digest.hexdigest()[:_DIGEST_LENGTH]}.jar"


def build(sources: Sources, compiler: Compiler, folder: Path) -> Path:
    """Compile into a jar in `folder`, unless it is there already; return its path.

    Raises:
        MachineProblem: with what the compiler says.
    """
    target = folder / sources.jar_name(compiler.jar)
    if not target.is_file():
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix="compile-") as work:
            classes, jar = Path(work) / "classes", Path(work) / target.name
            _compile(sources, compiler, classes)
            _pack(classes, jar)
            os.replace(jar, target)
    return target


def _compile(sources: Sources, compiler: Compiler, classes: Path) -> None:
    command = [
        str(compiler.java),
        *("-jar", str(compiler.jar), "-source", RELEASE, "-target", RELEASE, "-proc:none"),
        *("-encoding", "UTF-8", "-cp", _path(compiler.libraries), "-d", str(classes)),
        *(str(file) for file in sources.files()),
    ]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=COMPILE_TIMEOUT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise MachineProblem(
            f"compiling {sources.folder} took more than {COMPILE_TIMEOUT_SECONDS} s"
        ) from None
    if done.returncode:
        raise MachineProblem(f"{sources.folder} does not compile:\n{done.stdout}{done.stderr}")


def _path(libraries: Iterable[Path]) -> str:
    return os.pathsep.join(str(each) for each in libraries)


def _pack(classes: Path, jar: Path) -> None:
    """Equal classes make an equal jar: no times, no sequence of a folder."""
    with zipfile.ZipFile(jar, "w") as packed:
        for file in sorted(classes.rglob("*.class")):
            entry = zipfile.ZipInfo(file.relative_to(classes).as_posix(), _ZIP_EPOCH)
            packed.writestr(entry, file.read_bytes())
