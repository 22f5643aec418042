"""A Postgres of the test's own: what was committed survives kill -9 and a set-up cut short."""

import stat
import subprocess
from dataclasses import replace

import psycopg
import pytest

from services.machine.problems import MachineProblem
from services.machine.servers import postgres
from tests.postgres import OwnPostgres

pytestmark = pytest.mark.postgres


def test_committed_rows_survive_a_kill(stopped_postgres: OwnPostgres) -> None:
    stopped_postgres.start()
    with psycopg.connect(stopped_postgres.url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
    stopped_postgres.kill()
    stopped_postgres.start()
    with psycopg.connect(stopped_postgres.url) as connection:
        assert connection.execute("SELECT answer FROM kept").fetchone() == (42,)
        assert connection.execute("SHOW fsync").fetchone() == ("on",)
    stopped_postgres.stop()
    assert stopped_postgres.running is not None
    assert stopped_postgres.running.exit_code == 0


def test_a_lock_that_names_a_stranger_bars_no_start(stopped_postgres: OwnPostgres) -> None:
    """After a power cut the number of before may be that of any other process of the user."""
    stopped_postgres.start()
    stopped_postgres.kill()
    lock = stopped_postgres.server.data / "postmaster.pid"
    _, *others = lock.read_text("utf-8").split("\n")
    with subprocess.Popen(["/bin/sleep", "86400"]) as stranger:
        try:
            lock.write_text("\n".join([str(stranger.pid), *others]), "utf-8")
            stopped_postgres.start()
        finally:
            stranger.kill()
    assert stopped_postgres.is_running


def test_a_server_that_runs_keeps_its_lock(own_postgres: OwnPostgres) -> None:
    lock = own_postgres.server.data / "postmaster.pid"
    before = lock.read_text("utf-8")
    postgres.prepare(own_postgres.server, postgres.find_binaries())
    assert lock.read_text("utf-8") == before


def test_only_who_knows_the_password_comes_in(stopped_postgres: OwnPostgres) -> None:
    stopped_postgres.start()
    server = stopped_postgres.server
    assert stat.S_IMODE(server.password_file.stat().st_mode) == 0o600
    wrong = f"postgresql://{server.user}:wrong@127.0.0.1:{server.port}/{server.database}"
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(wrong)


def test_a_set_up_that_was_cut_short_is_made_anew(stopped_postgres: OwnPostgres) -> None:
    unfinished = stopped_postgres.server.folder / "data.new"
    unfinished.mkdir(parents=True)
    (unfinished / "PG_VERSION").write_text("18\n", "utf-8")
    stopped_postgres.server.password_file.write_text("left over", "utf-8")
    stopped_postgres.start()
    with psycopg.connect(stopped_postgres.url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    assert not unfinished.exists()


def test_without_its_database_a_set_up_is_not_whole(stopped_postgres: OwnPostgres) -> None:
    """That there is one of this name stands for a disk that is full just then."""
    server = replace(stopped_postgres.server, database="template1")
    with pytest.raises(MachineProblem, match='database "template1" already exists'):
        postgres.prepare(server, postgres.find_binaries())
    assert not server.data.exists()
