"""A Postgres of the test's own: what was committed survives kill -9 and a set-up cut short."""

import os
import signal
import stat
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from services.machine import child, postgres
from services.machine.ports import free_ports

pytestmark = pytest.mark.postgres


class OwnPostgres:
    """A server that a test may kill."""

    def __init__(self, folder: Path) -> None:
        self.server = postgres.PostgresServer(folder / "postgres", free_ports(1)[0])
        self._log = folder / "postgres.log"
        self._binaries = postgres.find_binaries()
        self.running: child.Child | None = None

    def start(self) -> None:
        postgres.prepare(self.server, self._binaries)
        program = postgres.program(self.server, self._binaries)
        self.running = child.start_and_wait(program, self._log, os.environ)

    def kill(self) -> None:
        assert self.running is not None
        os.kill(self.running.process.pid, signal.SIGKILL)
        self.running.end(5)

    def stop(self) -> None:
        if self.running is not None:
            self.running.stop()


@pytest.fixture
def own_postgres(tmp_path: Path) -> Iterator[OwnPostgres]:
    own = OwnPostgres(tmp_path)
    yield own
    own.stop()


def test_committed_rows_survive_a_kill(own_postgres: OwnPostgres) -> None:
    own_postgres.start()
    with psycopg.connect(own_postgres.server.url()) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
    own_postgres.kill()
    own_postgres.start()
    with psycopg.connect(own_postgres.server.url()) as connection:
        assert connection.execute("SELECT answer FROM kept").fetchone() == (42,)
        assert connection.execute("SHOW fsync").fetchone() == ("on",)
    own_postgres.stop()
    assert own_postgres.running is not None
    assert own_postgres.running.exit_code == 0


def test_only_who_knows_the_password_comes_in(own_postgres: OwnPostgres) -> None:
    own_postgres.start()
    server = own_postgres.server
    assert stat.S_IMODE(server.password_file.stat().st_mode) == 0o600
    wrong = f"postgresql://{server.user}:wrong@127.0.0.1:{server.port}/{server.database}"
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(wrong)


def test_a_set_up_that_was_cut_short_is_made_anew(own_postgres: OwnPostgres) -> None:
    unfinished = own_postgres.server.folder / "data.new"
    unfinished.mkdir(parents=True)
    (unfinished / "PG_VERSION").write_text("18\n", "utf-8")
    own_postgres.server.password_file.write_text("left over", "utf-8")
    own_postgres.start()
    with psycopg.connect(own_postgres.server.url()) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    assert not unfinished.exists()
