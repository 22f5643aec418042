"""Java's archive of Spark's classes: a start reads it, in place of some 20,000 classes one by one.

`python -m engine.class_archive COMMAND` runs a command that starts Spark, and keeps what its Java
has loaded. Java takes an archive only beside the very program and jars it was made with, in their
order: an archive is named by these, so what no longer fits is not found.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import pyspark

SPARK: Final = Path(pyspark.__file__).parent
_PATTERN: Final = "classes-*.jsa"
_MADE_WITH: Final = "-XX:TieredStopAtLevel=1 -XX:ArchiveClassesAtExit="
"""What is compiled is not archived, so little of it is."""
_NAME_LENGTH: Final = 16
_SAID_LENGTH: Final = 2000
TIMEOUT_SECONDS: Final = 600.0


class NotMade(Exception):
    """There is no archive, for this reason; programs start without it, some seconds later."""


def options(environment: Mapping[str, str], spark: Path = SPARK) -> tuple[str, ...]:
    """Return what Java is told of the archive; nothing where there is none that fits."""
    found = place(environment, spark)
    return (f"-XX:SharedArchiveFile={found}",) if found and found.exists() else ()


def place(environment: Mapping[str, str], spark: Path = SPARK) -> Path | None:
    """Return where the archive for these jars and this Java is, or would be.

    None where Spark's script would find no Java, or another Spark than PySpark's own.
    """
    java = java_program(environment)
    if java is None or "SPARK_HOME" in environment:
        return None
    with os.scandir(spark / "jars") as listed:  # in the order in which Java finds them
        parts = [_facts(java), *(_facts(Path(each)) for each in listed)]
    name = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:_NAME_LENGTH]
    return spark / _PATTERN.replace("*", name)


def java_program(environment: Mapping[str, str]) -> Path | None:
    """Return the Java that Spark's script starts: that of JAVA_HOME, else the path's first."""
    if home := environment.get("JAVA_HOME"):
        java: str | None = f"{home}/bin/java"
    else:
        java = shutil.which("java", path=environment.get("PATH", ""))
    return Path(java).resolve() if java and Path(java).is_file() else None


def make(command: Sequence[str], environment: Mapping[str, str], spark: Path = SPARK) -> Path:
    """Run a command that starts Spark, and keep its classes; archives that do not fit are removed.

    Raises:
        NotMade: with what was said.
    """
    wanted = place(environment, spark)
    if wanted is None:
        raise NotMade("no Java was found that PySpark itself would start")
    new = wanted.with_suffix(f".{os.getpid()}")
    try:
        _run(command, dict(environment) | {"SPARK_SUBMIT_OPTS": f"{_MADE_WITH}{new}"})
        if not new.exists():
            raise NotMade("Java wrote none")
        for old in spark.glob(_PATTERN):
            old.unlink(missing_ok=True)
        new.rename(wanted)
    except OSError as error:
        raise NotMade(str(error)) from None
    finally:
        new.unlink(missing_ok=True)
    return wanted


def _run(command: Sequence[str], environment: Mapping[str, str]) -> None:
    """Run to the end of all that holds its output: Java outlives the Python that started it."""
    try:
        made = subprocess.run(
            command,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise NotMade(f"it took more than {TIMEOUT_SECONDS:.0f} s") from None
    if made.returncode:
        raise NotMade(f"exit code {made.returncode}: {made.stdout[-_SAID_LENGTH:]}")


def _facts(path: Path) -> str:
    told = path.stat()
    return f"{path} {told.st_size} {told.st_mtime_ns}"


def main(command: Sequence[str]) -> int:
    """Make the archive, unless there is one that fits."""
    if options(os.environ):
        return 0
    sys.stderr.write("Java archives Spark's classes, so that Spark starts faster; once\n")
    try:
        make(command, os.environ)
    except NotMade as error:
        sys.stderr.write(f"there is no archive, so Spark starts some seconds later: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
