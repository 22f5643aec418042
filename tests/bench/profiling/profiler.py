"""Async-profiler in a running Java: fetched by checksum, loaded by the JDK's own `jcmd`."""

import os
import platform
import subprocess
import zipfile
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from services.machine.installation import setup
from services.machine.problems import MachineProblem
from tests.bench.engine import ROOT, Unavailable
from tests.bench.jdk import jdk_program

LOCK: Final = Path(__file__).with_name("jars.lock")
LIBRARY: Final = "libasyncProfiler.so"
FOLDERS: Final = MappingProxyType({"x86_64": "linux-x64", "aarch64": "linux-arm64"})
INTERVAL_MS: Final = 4
"""Of a thread's processor time between two samples: what Linux counts by, at 250 ticks a second."""
COMMAND_TIMEOUT_SECONDS: Final = 60


@dataclass(frozen=True, slots=True)
class Profiler:
    """Samples one Java process between `begin` and `end`."""

    jcmd: Path
    library: Path
    process_id: int

    def begin(self) -> None:
        """Sample every thread from now on.

        Raises:
            MachineProblem: Java refuses it; the message has its words.
        """
        self._tell(f"start,event=ctimer,interval={INTERVAL_MS}ms,threads")

    def end(self, collapsed: Path) -> list[str]:
        """Sample no more; return the lines of the collapsed output, which is written to a file."""
        self._tell(f"stop,file={collapsed},collapsed,threads")
        return collapsed.read_text("utf-8").splitlines()

    def _tell(self, options: str) -> None:
        quoted = f'"{options}"'  # jcmd would take a comma for the end of it
        command = [str(self.jcmd), str(self.process_id), "JVMTI.agent_load", str(self.library)]
        said = subprocess.run(
            [*command, quoted],
            capture_output=True,
            text=True,
            timeout=COMMAND_TIMEOUT_SECONDS,
            check=False,
        )
        if said.returncode or "return code: 0" not in said.stdout:
            raise MachineProblem(f"Java {self.process_id} cannot be profiled: {said}")


def profiler_of(process_id: int) -> Profiler:
    """Fetch what is missing; return a profiler of this Java process.

    Raises:
        Unavailable: there is no JDK, or no library for this kind of processor.
    """
    return Profiler(jdk_program("jcmd"), _library(), process_id)


def _library() -> Path:
    folder = FOLDERS.get(platform.machine())
    if folder is None or platform.system() != "Linux":
        raise Unavailable(f"no {LIBRARY} for {platform.system()} on {platform.machine()}")
    tools = (ROOT / os.environ.get("ALDEBARAN_TOOLS", ".tools")).resolve()
    setup.install_locked(LOCK, tools, os.environ)
    (jar,) = setup.jars_folder(tools, "profiler").glob("*.jar")
    with zipfile.ZipFile(jar) as opened:
        return Path(opened.extract(f"{folder}/{LIBRARY}", tools / "profiler"))
