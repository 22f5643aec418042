"""Java's archive of Spark's some 20,000 classes.

`python -m engine.spark_classes COMMAND` runs a command that starts Spark, and keeps what its Java
has loaded.
"""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import pyspark

from services.backbone import class_archive
from services.backbone.class_archive import NotMade

SPARK: Final = Path(pyspark.__file__).parent
_COMPILED_ONCE: Final = "-XX:TieredStopAtLevel=1"
"""What is compiled is not archived, so little of it is."""
_SAID_LENGTH: Final = 2000
TIMEOUT_SECONDS: Final = 600.0
EXIT_INTERRUPTED: Final = 130


def options(environment: Mapping[str, str], spark: Path = SPARK) -> tuple[str, ...]:
    """Return what Java is told of the archive; nothing where there is none that fits."""
    java = java_program(environment)
    return class_archive.options(java, spark / "jars") if java else ()


def java_program(environment: Mapping[str, str]) -> Path | None:
    """Return the Java that Spark's script starts: that of JAVA_HOME, else the path's first.

    None where there is none, or where another Spark than PySpark's own is started.
    """
    if "SPARK_HOME" in environment:
        return None
    if home := environment.get("JAVA_HOME"):
        java: str | None = f"{home}/bin/java"
    else:
        java = shutil.which("java", path=environment.get("PATH", ""))
    return Path(java) if java and Path(java).is_file() else None


def make(command: Sequence[str], environment: Mapping[str, str], spark: Path = SPARK) -> Path:
    """Run a command that starts Spark, and keep its classes.

    Raises:
        NotMade: with what was said.
    """
    if (java := java_program(environment)) is None:
        raise NotMade("no Java was found that PySpark itself would start")
    wanted = class_archive.place(java, spark / "jars")

    def run(option: str) -> None:
        told = shlex.join((_COMPILED_ONCE, option))  # Spark splits it as a shell would
        _run(command, dict(environment) | {"SPARK_SUBMIT_OPTS": told})

    class_archive.keep(wanted, run)
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
    except KeyboardInterrupt:  # `make` was interrupted, and says so itself
        return EXIT_INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
