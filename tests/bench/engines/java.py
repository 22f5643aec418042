"""Compiles the bench's Java sources with the jars of their own lock file."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from services.machine.installation import setup
from tests.bench.engine import ROOT
from tests.bench.jdk import jdk_program

SOURCES = ROOT / "tests" / "bench" / "flink"
COMPILE_TIMEOUT_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Compiled:
    """The Java program and the class path of what was compiled."""

    java: Path
    class_path: str


def compiled() -> Compiled:
    """Fetch the jars where they are missing and compile.

    Raises:
        Unavailable: there is no javac.
    """
    java = setup.required_java(os.environ).resolve()
    compiler = jdk_program("javac")
    tools = (ROOT / os.environ.get("ALDEBARAN_TOOLS", ".tools")).resolve()
    setup.install_locked(SOURCES / "jars.lock", tools, os.environ)
    jars, classes = setup.jars_folder(tools, "flink"), tools / "bench-classes"
    shutil.rmtree(classes, ignore_errors=True)
    command = [str(compiler), "--release", "17", "-cp", f"{jars}/*", "-d", str(classes)]
    subprocess.run(
        [*command, *(str(source) for source in sorted(SOURCES.glob("*.java")))],
        check=True,
        timeout=COMPILE_TIMEOUT_SECONDS,
    )
    return Compiled(java, f"{classes}:{jars}/*")
