"""A Postgres that a test may stop, kill and start again, and databases for as long as a test."""

import os
import signal
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import psycopg

from services.machine.ports import free_ports
from services.machine.servers import postgres
from services.machine.supervision import child
from services.machine.waiting import wait_until
from tests.liveness import lives


class OwnPostgres:
    """Runs when it is started; its place and its files stay the same, the log beside others."""

    def __init__(self, files: Path, log_folder: Path) -> None:
        self.server = postgres.PostgresServer(files / "postgres", free_ports(1)[0])
        self.running: child.Child | None = None
        self._log_file = log_folder / "postgres.log"
        self._binaries = postgres.find_binaries()

    @property
    def url(self) -> str:
        """Return the address of its database; from then on its files are there."""
        postgres.prepare(self.server, self._binaries)
        return self.server.url()

    @property
    def is_running(self) -> bool:
        """Tell whether it was started and has not ended."""
        return self.running is not None and self.running.exit_code is None

    def start(self) -> None:
        """Start it, the first time with new files, and wait until it serves."""
        postgres.prepare(self.server, self._binaries)
        program = postgres.program(self.server, self._binaries)
        self.running = child.start_and_wait(program, self._log_file, os.environ)

    def stop(self) -> None:
        """Have it end by itself, if it runs."""
        if self.running is not None:
            self.running.stop()

    def kill(self) -> None:
        """End it and all that it has started with SIGKILL; nothing of it is left afterwards.

        It is stopped first, so that it starts nothing more; a new one would not start beside that.
        """
        assert self.running is not None
        server = psutil.Process(self.running.process.pid)
        server.suspend()
        started = server.children(recursive=True)
        for each in (server, *started):
            each.kill()
        self.running.end(5)
        wait_until(lambda: not any(map(lives, started)), 10, "something of Postgres is left")

    def only_read(self) -> None:
        """Refuse all writes, as a managed server does whose disk is full."""
        self._set_read_only("on")

    def write_again(self) -> None:
        """Take writes again."""
        self._set_read_only("off")

    def hold_back_the_log(self) -> None:
        """Freeze what brings the log to the disk in passing: now only who waits for it does."""
        wait_until(self._writer_is_frozen, 10, "the log's writer never rests")

    def _writer_is_frozen(self) -> bool:
        """Freeze it while it rests: in the midst of its work it holds a lock, and commits hang."""
        asked = "SELECT pid, wait_event FROM pg_stat_activity WHERE backend_type = 'walwriter'"
        with psycopg.connect(self.url) as connection:
            row = connection.execute(asked).fetchone()
            if row is None:
                return False
            os.kill(row[0], signal.SIGSTOP)
            connection.commit()  # what it does is told anew in each transaction
            frozen = connection.execute(asked).fetchone()
            if frozen is not None and frozen[1] == "WalWriterMain":
                return True
            os.kill(row[0], signal.SIGCONT)
            return False

    def new_database(self) -> str:
        """Create an empty database; return its address."""
        name = f"ledger_{uuid.uuid4().hex}"
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return f"{self.url.rpartition('/')[0]}/{name}"

    def _set_read_only(self, value: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"ALTER SYSTEM SET default_transaction_read_only = {value}".encode())
            connection.execute("SELECT pg_reload_conf()")
        wait_until(lambda: self._read_only() == value, 10, "Postgres does not read its settings")

    def _read_only(self) -> str:
        with psycopg.connect(self.url) as connection:
            row = connection.execute("SHOW default_transaction_read_only").fetchone()
        return str(row and row[0])


@contextmanager
def database_like(template: str, postgres_url: str) -> Iterator[str]:
    """Copy a database that nobody is connected to; give the copy's address until it is dropped."""
    name = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}".encode())
    yield f"{postgres_url.rpartition('/')[0]}/{name}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
