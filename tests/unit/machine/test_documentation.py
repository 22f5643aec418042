import re
from pathlib import Path

from services.machine.settings import DELIVERER_PREFIX, MachineSettings

PAGE = Path(__file__).parents[3] / "docs" / "one-machine.md"

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
