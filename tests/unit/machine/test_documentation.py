import re
from dataclasses import replace
from pathlib import Path

import pytest

from services.backbone.settings import CHANNELS_MAX, PREFIX
from services.machine.installation.prerequisites import python_range
from services.machine.plan.api_key import ApiKey
from services.machine.plan.everything import plan, set_anyway
from services.machine.plan.machine import Machine
from services.machine.servers.postgres import PostgresServer
from services.machine.settings import DELIVERER_PREFIX, PORT_PREFIX, MachineSettings

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "one-machine.md"

CHANNELS = [name for name in MachineSettings.model_fields if name.startswith(DELIVERER_PREFIX)]
DECIDE = {f"ALDEBARAN_{what}" for what in ("KAFKA_NODES", "AUDITORS", "LOOKOUTS", "DELIVERERS")}
"""By which some of these settings are decided."""
EVERYTHING = MachineSettings(
    channels=tuple(name.removeprefix(DELIVERER_PREFIX) for name in CHANNELS),
    kafka_nodes=3,
    auditors=2,
    lookouts=2,
    deliverers=2,
)
PORTS = {
    PREFIX + name.upper(): field.default
    for name, field in MachineSettings.model_fields.items()
    if name.startswith(PORT_PREFIX)
}


def test_the_page_tells_every_port_and_its_default() -> None:
    written = re.findall(r"`(ALDEBARAN_PORT_\w+)` \| (\d+)", PAGE.read_text("utf-8"))
    assert {name: int(port) for name, port in written} == PORTS


def test_the_page_tells_every_setting_that_is_named_in_vain(machine: Machine) -> None:
    every = replace(machine, settings=EVERYTHING)

    def stays_ours(name: str) -> bool:
        one = replace(every, named=frozenset({name}))
        return set_anyway(plan(one), one) == (name,)

    own = {name for program in plan(every) for name in program.environment} | {*every.stores}
    ours = {name for name in own if name.startswith(PREFIX) and stays_ours(name)}
    listed = r"^Only these `make run` sets itself.*\n\n((?:- .*\n)+)"
    (told,) = re.findall(listed, PAGE.read_text("utf-8"), re.MULTILINE)
    assert set(re.findall(r"`(ALDEBARAN_\w+)`", told)) - DECIDE == ours


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


def test_the_simulators_page_brings_the_key_and_a_port_that_make_run_leaves() -> None:
    text = (ROOT / "docs" / "simulator.md").read_text("utf-8")
    key = ApiKey(MachineSettings.model_fields["home"].default).key_file
    assert f"\nexport ALDEBARAN_SIMULATOR_API_KEY=$(cat {key})\n" in text
    (port,) = re.findall(r"^export ALDEBARAN_HTTP_PORT=(\d+)$", text, re.MULTILINE)
    assert int(port) not in EVERYTHING.ports().values()
    for first in (EVERYTHING.port_deliverers, EVERYTHING.port_mirrors):
        assert int(port) not in range(first, first + CHANNELS_MAX)


@pytest.mark.parametrize("name", ["README.md", "docs/one-machine.md"])
def test_the_page_tells_which_pythons_will_do(name: str) -> None:
    assert f"Python {python_range()}" in (ROOT / name).read_text("utf-8")


def is_commented(line: str) -> bool:
    """Say whether a word outside quotes begins with #."""
    return re.search(r"(^|\s)#", re.sub(r"'[^']*'|\"[^\"]*\"", "quoted", line)) is not None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("make run", False),
        ("make run  # all of it", True),
        ("# all of it", True),
        ("""send '{"a": 1, "#shares": " # "}'""", False),
        ("""send '{"#shares": 1}'  # it's one""", True),
        ('export A="$(cat a)" # b', True),
        ("curl localhost/page#part", False),
    ],
)
def test_a_comment_is_told_from_what_is_quoted(line: str, expected: bool) -> None:
    assert is_commented(line) == expected


@pytest.mark.parametrize("name", ["README.md", "docs/one-machine.md", "docs/simulator.md"])
def test_lines_to_paste_are_without_comments(name: str) -> None:
    """The zsh of macOS takes what stands behind a # for more words, and fails or does something."""
    text = (ROOT / name).read_text("utf-8")
    blocks = re.findall(r"^```\w*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    assert lines
    assert [line for line in lines if is_commented(line)] == []
