from pathlib import Path

import pytest

from services.machine.plan import api_key
from services.machine.plan.machine import Machine
from services.machine.servers import cluster
from services.machine.servers.postgres import PostgresServer
from services.machine.settings import MachineSettings


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    settings = MachineSettings(home=tmp_path, simulator_dials="--rate max --run-id 'a b'")
    server = PostgresServer(tmp_path / "postgres", settings.port_postgres)
    server.folder.mkdir()
    server.password_file.write_text("p@ss/word\n", "ascii")
    key = api_key.ApiKey(tmp_path)
    api_key.prepare(key)
    api_key.prepare(api_key.operator_key(tmp_path))
    brokers = cluster.of_settings(settings, tmp_path)
    java = tmp_path / "jdk" / "bin" / "java"
    return Machine(settings, java, tmp_path / "bin", brokers, server, key)
