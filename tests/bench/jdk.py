"""Programs of a JDK that the bench needs beside Java itself."""

import os
import shutil
from pathlib import Path

from services.machine.installation import setup
from tests.bench.engine import Unavailable


def jdk_program(name: str) -> Path:
    """Return one of the JDK's programs: beside Java, else by its name.

    Raises:
        Unavailable: there is none.
    """
    beside = setup.required_java(os.environ).resolve().with_name(name)
    named = str(beside) if beside.is_file() else shutil.which(name)
    if named is None:
        raise Unavailable(
            f"{name} was not found: this row needs a JDK 17 or newer "
            "(Debian: apt-get install default-jdk-headless)"
        )
    return Path(named)
