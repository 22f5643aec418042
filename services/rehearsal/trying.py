"""One try: a Spark program of its own, with bounds, of which nothing is left afterwards."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from services.backbone.clock import Clock
from services.backbone.errors import Refused, Trouble
from services.backbone.settings import PREFIX
from services.backbone.settings_sources import settings_file
from services.contracts.records import describe
from services.contracts.rehearsals import Answer, Rehearsal
from services.rehearsal.settings import RehearsalSettings

ANSWER_LIMIT_BYTES: Final = 8 * 1024 * 1024
LOG_BYTES: Final = 64 * 1024
"""So much of the end of its log is looked at where it fails."""
TOLD_CHARACTERS: Final = 400
LOOK_SECONDS: Final = 0.1
OUT_OF_MEMORY: Final = 3
"""Java's exit code when `-XX:+ExitOnOutOfMemoryError` ends it."""

_PASSED_ON: Final = (f"{PREFIX}AUDITOR_", f"{PREFIX}LOG_")


class Stopped(Exception):
    """The program was told to end meanwhile."""


class Failed(Trouble):
    """There is no answer; the message says why and what to do."""


@dataclass(frozen=True)
class Trying:
    """Runs the Spark program; `command` is without its files and bounds."""

    settings: RehearsalSettings
    clock: Clock
    stop: threading.Event
    command: Sequence[str] = (sys.executable, "-m", "auditor", "rehearse")

    def answer(self, rehearsal: Rehearsal) -> Answer:
        """Return what came of a rehearsal.

        Raises:
            Failed: nothing did.
            Stopped: this program is to end.
        """
        try:
            return self._answer(rehearsal)
        except OSError as error:
            raise Failed(f"there is no room for a rehearsal: {error}") from None
        except Refused as error:
            raise Failed(str(error)) from None

    def _answer(self, rehearsal: Rehearsal) -> Answer:
        # What it has started may write for a moment after the kill.
        with tempfile.TemporaryDirectory(
            prefix="aldebaran-rehearsal-", ignore_cleanup_errors=True
        ) as name:
            folder = Path(name)
            (folder / "question.json").write_text(rehearsal.model_dump_json())
            with (folder / "log").open("wb") as log:
                process = self._started(folder, log.fileno())
                try:
                    self._wait(process)
                finally:
                    _end(process)
            return _read(folder, process.returncode)

    def _started(self, folder: Path, log: int) -> "subprocess.Popen[bytes]":
        files = ["--question", str(folder / "question.json"), "--answer", str(folder / "answer")]
        at = self.settings
        bounds = ["--records", str(at.rehearsal_records)]
        bounds += ["--seconds", str(at.rehearsal_version_seconds)]
        bounds += ["--niceness", str(at.rehearsal_niceness)]
        return subprocess.Popen(
            [*self.command, *files, *bounds],
            env=environment(os.environ, at, folder),
            stdin=subprocess.PIPE,  # it ends when this closes, also when we are killed
            stdout=log,
            stderr=log,
            start_new_session=True,
        )

    def _wait(self, process: "subprocess.Popen[bytes]") -> None:
        end = self.clock.monotonic_seconds() + self.settings.rehearsal_seconds
        while process.poll() is None:
            if self.clock.wait(self.stop, LOOK_SECONDS):
                raise Stopped
            if self.clock.monotonic_seconds() > end:
                said = f"ended after {self.settings.rehearsal_seconds:g} s: take a shorter span"
                raise Failed(f"{said}, or try again when less is going on")


def environment(own: Mapping[str, str], at: RehearsalSettings, folder: Path) -> dict[str, str]:
    """Return what the Spark program finds in its environment: no secret but how to reach Kafka.

    Everything that it writes lies in `folder`.

    Raises:
        Refused: the file of settings cannot be read any more.
    """
    filed = {
        PREFIX + name.upper(): _text(value)
        for name, value in settings_file(own).items()
        if value is not None
    }
    kept = {
        name: value
        for name, value in (filed | dict(own)).items()
        if not name.startswith(PREFIX) or name.startswith(_PASSED_ON)
    }
    folders = {
        "ALDEBARAN_STREAMS_DIR": at.streams_dir,
        "ALDEBARAN_WATCHES_DIR": at.watches_dir,
    }
    options = {name: each.get_secret_value() for name, each in at.auditor_kafka_options.items()}
    return {
        **{name: str(path) for name, path in folders.items() if path},
        **kept,
        "TMPDIR": str(folder),
        "SPARK_LOCAL_DIRS": str(folder),
        "ROCKSDB_SHAREDLIB_DIR": str(folder),
        "ALDEBARAN_KAFKA_BOOTSTRAP_SERVERS": at.kafka_bootstrap_servers,
        "ALDEBARAN_AUDITOR_KAFKA_OPTIONS": json.dumps(options),
        "ALDEBARAN_AUDITOR_HEAP": at.rehearsal_heap,
    }


def _text(value: object) -> str:
    """Return a value of the file of settings as the environment has it."""
    return value if isinstance(value, str) else json.dumps(value)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kill what is left of it: it has nothing to finish."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    if process.stdin is not None:
        process.stdin.close()
    process.wait()


def _read(folder: Path, code: int) -> Answer:
    """Return the answer that a program has left.

    Raises:
        Failed: there is none.
    """
    path = folder / "answer"
    try:
        if code == 0 and path.stat().st_size <= ANSWER_LIMIT_BYTES:
            return Answer.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        said = describe(error) if isinstance(error, ValidationError) else str(error)
        raise Failed(f"its answer cannot be read: {said}") from None
    raise Failed(_why(code, folder / "log"))


def _why(code: int, log: Path) -> str:
    told = log.read_bytes()[-LOG_BYTES:].decode(errors="replace")
    if code in (OUT_OF_MEMORY, -signal.SIGKILL, 128 + signal.SIGKILL) or "OutOfMemory" in told:
        return "it took more memory than it may: take a shorter span, or group by less"
    # Stack traces are indented, ours and Java's.
    lines = [line for line in told.splitlines() if line.strip() and not line[0].isspace()]
    said = lines[-1][:TOLD_CHARACTERS] if lines else "it said nothing"
    return f"it ended with {code}: {said}"
