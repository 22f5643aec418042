import re
from pathlib import Path

import pytest

from services.machine.postgres import PostgresServer
from services.machine.settings import DELIVERER_PREFIX, MachineSettings

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "one-machine.md"

CHANNELS = [name for name in MachineSettings.model_fields if name.startswith(DELIVERER_PREFIX)]
EVERYTHING = MachineSettings(
    channels=tuple(name.removeprefix(DELIVERER_PREFIX) for name in CHANNELS),
    kafka_nodes=3,
    auditors=2,
)


def test_the_page_tells_every_port_and_its_default() -> None:
    written = re.findall(r"`(ALDEBARAN_PORT_\w+)` \| (\d+)", PAGE.read_text("utf-8"))
    assert {name: int(port) for name, port in written} == EVERYTHING.ports()


def test_the_page_tells_the_simulators_dials() -> None:
    assert f"`{MachineSettings().simulator_dials}`" in PAGE.read_text("utf-8")


@pytest.mark.parametrize("name", ["README.md", "docs/one-machine.md"])
def test_the_lines_that_make_a_terminal_ready_are_those_of_the_welcome(name: str) -> None:
    home, tools, port = (
        MachineSettings.model_fields[each].default for each in ("home", "tools", "port_postgres")
    )
    server = PostgresServer(home / "postgres", port)
    text = (ROOT / name).read_text("utf-8")
    assert f"\n. {tools}/venv/bin/activate\n" in text
    assert f"\nexport ALDEBARAN_POSTGRES_URL={server.url_in_shell()}\n" in text
