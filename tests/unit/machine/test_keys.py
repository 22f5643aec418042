"""Keys of one machine: made once, kept beside those that people add, sent by our own programs."""

import stat
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from services.backbone.errors import Refused
from services.backbone.web.keys import ApiKey, entry, key_hash, load_keys
from services.contracts.ids import digest
from services.machine.plan import api_key
from services.machine.plan.environment import environment, own_keys
from services.machine.plan.everything import plan
from services.machine.plan.far_ends import named_settings
from services.machine.plan.machine import Machine
from services.machine.problems import MachineProblem
from services.machine.terminal.welcome import welcome


def test_keys_of_the_users_own_come_with_the_key_that_our_program_sends(machine: Machine) -> None:
    def refusal(*named: str, dials: str = "--rate 1") -> str:
        settings = machine.settings.model_copy(update={"simulator_dials": dials})
        asked = frozenset(f"ALDEBARAN_{name}" for name in named)
        try:
            environment(replace(machine, settings=settings, named=asked), {})
        except MachineProblem as problem:
            return str(problem)
        return ""

    assert "by ALDEBARAN_SIMULATOR_API_KEY, or" in refusal("API_KEYS_FILE")
    assert "by ALDEBARAN_OPERATOR_KEY" in refusal("OPERATOR_KEYS_FILE")
    both = ("API_KEYS_FILE", "OPERATOR_KEYS_FILE", "OPERATOR_KEY")
    assert [refusal(*both, dials=dials) for dials in ("", "--api-key mine")] == ["", ""]
    assert refusal(*both, "SIMULATOR_API_KEY") == ""


def test_the_key_is_made_once_is_private_and_its_hash_follows_it(tmp_path: Path) -> None:
    key = api_key.ApiKey(tmp_path)
    api_key.prepare(key)
    first = key.read()
    key.hashes_file.unlink()
    api_key.prepare(key)
    assert key.read() == first
    assert stat.S_IMODE(key.key_file.stat().st_mode) == 0o600
    (entry,) = yaml.safe_load(key.hashes_file.read_text("ascii"))["keys"]
    assert len(entry["sha256"]) == 2 * len(digest("a"))
    assert first not in key.hashes_file.read_text("ascii")


def test_operators_have_a_key_of_their_own_that_the_lookout_can_read(tmp_path: Path) -> None:
    key = api_key.operator_key(tmp_path)
    api_key.prepare(key)
    assert key.key_file.name == "operator-key"
    (read,) = load_keys(key.hashes_file, ApiKey)
    assert read.sha256 == key_hash(key.read())


@pytest.mark.parametrize("indented", ["", "  "])
def test_keys_that_people_add_stay(tmp_path: Path, indented: str) -> None:
    key = api_key.operator_key(tmp_path)
    api_key.prepare(key)
    made = key.hashes_file.read_text("ascii")
    first, *lines = made.splitlines(keepends=True)
    key.hashes_file.write_text("".join([first, *(indented + line for line in lines)]), "ascii")
    api_key.prepare(key)
    with key.hashes_file.open("a", encoding="utf-8") as file:
        file.write("# Jörg's\n" + entry(ApiKey, "ann", "aldebaran_ann"))
    api_key.prepare(key)
    assert names_in(key) == ["this-machine", "ann"]
    key.key_file.unlink()
    api_key.prepare(key)
    assert names_in(key) == ["this-machine", "ann"]
    assert key.opens(key.read())
    with key.hashes_file.open("a", encoding="utf-8") as file:
        file.write(entry(ApiKey, "bob", "aldebaran_bob"))
    assert names_in(key) == ["this-machine", "ann", "bob"]


@pytest.mark.parametrize("held", ["keys: [", "keys: {a: b}", "- 7", "keys:\n- ann\n"])
def test_keys_that_cannot_be_read_stay_for_their_reader_to_refuse(
    tmp_path: Path, held: str
) -> None:
    key = api_key.operator_key(tmp_path)
    key.hashes_file.write_text(held, "ascii")
    api_key.prepare(key)
    assert key.hashes_file.read_text("ascii") == held
    with pytest.raises(Refused):
        load_keys(key.hashes_file, ApiKey)


def names_in(key: api_key.ApiKey) -> list[str]:
    return [each.name for each in load_keys(key.hashes_file, ApiKey)]


CONSOLES, SIMULATORS = "ALDEBARAN_OPERATOR_KEY", "ALDEBARAN_SIMULATOR_API_KEY"
ELSEWHERE = {
    CONSOLES: {"ALDEBARAN_LOOKOUT_URL": "https://lookout.example"},
    SIMULATORS: {"ALDEBARAN_API_KEYS_FILE": "/etc/keys.yaml"},
}
"""Where these keys are for others than this machine's programs."""


@pytest.mark.parametrize("name", [CONSOLES, SIMULATORS])
@pytest.mark.parametrize("gone", ["aldebaran_old", "", "\udcff"])
def test_an_exported_key_of_a_state_that_is_gone_gives_way(
    machine: Machine, name: str, gone: str
) -> None:
    ours = environment(machine, {})[name]
    exported = {name: gone, "ALDEBARAN_LOOKOUT_URL": "http://127.0.0.1:18083"}
    told = replace(machine, named=named_settings(exported))
    assert environment(told, exported)[name] == ours
    said = welcome(plan(told), told, {}, own_keys(told, exported))
    assert f"`make run` sets {name} itself" in said


@pytest.mark.parametrize("name", [CONSOLES, SIMULATORS])
def test_a_key_that_somebody_knows_is_kept(machine: Machine, name: str) -> None:
    key = machine.operator_key if name == CONSOLES else machine.api_key
    with key.hashes_file.open("a", encoding="ascii") as file:
        file.write(entry(ApiKey, "ann", "aldebaran_ann"))
    for known in ({name: " aldebaran_ann\n"}, {name: "aldebaran_theirs", **ELSEWHERE[name]}):
        told = replace(machine, named=named_settings(known))
        assert environment(told, known)[name] == known[name]
        assert own_keys(told, known) == {}
