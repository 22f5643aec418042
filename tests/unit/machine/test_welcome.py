import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

from services.machine.plan.environment import environment
from services.machine.plan.everything import plan
from services.machine.plan.machine import Machine
from services.machine.terminal.welcome import commands, welcome


def test_the_welcome_tells_what_the_user_names_in_vain(machine: Machine) -> None:
    in_vain = frozenset({"ALDEBARAN_TOPIC_COPIES", "ALDEBARAN_POSTGRES_URL"})
    theirs = replace(machine, named=in_vain | {"ALDEBARAN_CONSOLE_PARTS", "ALDEBARAN_LOG_LEVEL"})
    line = "`make run` sets ALDEBARAN_POSTGRES_URL, ALDEBARAN_TOPIC_COPIES itself"
    assert line in welcome(plan(theirs), theirs, {})
    assert "sets ALDEBARAN" not in welcome(plan(machine), machine, {})


def test_the_welcome_names_places_and_no_secret(machine: Machine) -> None:
    said = welcome(plan(machine), machine, environment(machine, {}))
    assert said.isascii()
    assert "/metrics" in said
    assert str(machine.home / "log") in said
    assert "p@ss" not in said
    assert "\n".join(commands(machine, {})) in said
    assert machine.api_key.read() not in said


def test_the_welcome_leaves_out_keys_that_are_not_in_use(machine: Machine) -> None:
    files = {
        "ALDEBARAN_API_KEYS_FILE": "/api-key",
        "ALDEBARAN_OPERATOR_KEYS_FILE": "/operator-key",
        "ALDEBARAN_CONSOLE_FIRST_PASSWORD": "/console-password",
    }
    theirs = replace(machine, named=frozenset(files))
    for one, shown in ((machine, True), (theirs, False)):
        said = welcome(plan(one), one, {})
        assert {f"{machine.home}{file}\n" in said for file in files.values()} == {shown}


def test_lines_to_copy_take_the_password_out_of_its_file(machine: Machine, tmp_path: Path) -> None:
    folder = tmp_path / "a folder's"
    folder.mkdir()
    (folder / "password").write_text("x-1_Y\n", "ascii")
    told = commands(replace(machine, server=replace(machine.server, folder=folder)), {})
    assert "x-1_Y" not in "".join(told)
    assert shlex.split(told[1])[-1].endswith("/venv/bin/activate")
    line = f"{told[2]}; echo $ALDEBARAN_POSTGRES_URL"
    shown = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, check=True)
    assert shown.stdout == "postgresql://aldebaran:x-1_Y@127.0.0.1:15432/aldebaran\n"


def exports(machine: Machine, inherited: dict[str, str]) -> dict[str, str]:
    """Return what another terminal is told to export beside the ledger's address."""
    told = commands(machine, environment(machine, inherited))[3:]
    pairs = [shlex.split(line) for line in told]
    assert all(len(words) == 2 and words[0] == "export" for words in pairs)
    return dict(words[1].split("=", 1) for words in pairs)


def test_commands_beside_it_read_the_folders_that_the_user_names(machine: Machine) -> None:
    """Else `services.topics --set-retention` would go by the shipped streams, and say `done`."""
    named = {"ALDEBARAN_STREAMS_DIR": "my streams", "ALDEBARAN_CHANNELS": '["bus","email"]'}
    place, channels = str(Path.cwd() / "my streams"), named["ALDEBARAN_CHANNELS"]
    said = {"ALDEBARAN_STREAMS_DIR": place, "ALDEBARAN_CHANNELS": channels}
    assert exports(machine, {**named, "ALDEBARAN_SMS_AUTH_TOKEN": "secret"}) == said
    assert exports(machine, {"ALDEBARAN_STREAMS_DIR": ""}) == exports(machine, {}) == {}


def test_commands_beside_it_ask_the_brokers_of_this_machine(machine: Machine) -> None:
    name = "ALDEBARAN_KAFKA_BOOTSTRAP_SERVERS"
    moved = replace(machine.brokers.nodes[0], port=29092)
    elsewhere = replace(machine, brokers=replace(machine.brokers, nodes=(moved,)))
    assert exports(elsewhere, {}) == {name: "127.0.0.1:29092"}
    in_a_file = replace(machine, named=frozenset({name}))
    assert exports(in_a_file, {}) == {name: machine.brokers.bootstrap}
