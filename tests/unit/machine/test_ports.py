import socket
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import ValidationError

from services.machine.plan import routes
from services.machine.plan.everything import plan
from services.machine.plan.machine import Machine
from services.machine.ports import check_ports, free_ports, holder, is_free
from services.machine.problems import MachineProblem
from services.machine.settings import MachineSettings
from services.machine.supervision.readiness import HttpReadiness


def test_free_ports_are_different_and_free() -> None:
    ports = free_ports(5)
    assert len(set(ports)) == 5
    assert all(is_free(port) for port in ports)


def test_a_taken_port_is_named_with_its_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.machine.ports.RELEASE_TIMEOUT_SECONDS", 0.1)
    (port,) = free_ports(1)
    with socket.create_server(("127.0.0.1", port)), pytest.raises(MachineProblem) as raised:
        check_ports({"ALDEBARAN_PORT_GATEWAY": port})
    assert f"port {port} is taken" in str(raised.value)
    assert "ALDEBARAN_PORT_GATEWAY" in str(raised.value)
    check_ports({"ALDEBARAN_PORT_GATEWAY": port})


def tools(folder: Path, **scripts: str) -> str:
    """Make a folder of programs; return it as a PATH."""
    for name, script in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n", "utf-8")
        (folder / name).chmod(0o755)
    return str(folder)


def test_who_holds_a_port_is_told_by_name_and_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`lsof` is what macOS has: a line for each of them, and for each further process."""
    said = "printf 'p4711\\ncpython3.12\\nf5\\np4712\\ncjava\\nf9\\n'"
    monkeypatch.setenv("PATH", tools(tmp_path, lsof=said))
    assert holder(1) == "python3.12 (process 4711)"


def test_a_tool_that_does_not_answer_holds_nothing_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.machine.ports.ASK_TIMEOUT_SECONDS", 0.1)
    hangs = "exec /bin/sleep 86400"
    monkeypatch.setenv("PATH", tools(tmp_path, ss=hangs, lsof=hangs))
    assert holder(1) is None


def test_one_port_for_two_is_refused() -> None:
    with pytest.raises(MachineProblem, match="A and B both name port 5"):
        check_ports({"A": 5, "B": 5})


def test_the_default_ports_are_different_and_each_has_its_setting() -> None:
    ports = MachineSettings().ports()
    assert len(set(ports.values())) == len(ports)
    assert all(name.startswith("ALDEBARAN_PORT_") for name in ports)
    assert ports["ALDEBARAN_PORT_KAFKA"] == 19092


EVERYTHING = MachineSettings(
    channels=(*routes.RECIPIENTS, "pager", "horn"),
    kafka_nodes=3,
    auditors=2,
    lookouts=2,
    deliverers=2,
    amqp=True,
)


def bound(asked: MachineSettings) -> set[str]:
    """Return which ports are checked, each by its setting without prefix."""
    return {name.removeprefix("ALDEBARAN_PORT_") for name in asked.ports()}


@pytest.mark.parametrize(
    ("told", "left_out"),
    [
        ({"archivist": False}, {"ARCHIVIST"}),
        ({"amqp": False}, {"AMQP"}),
        ({"accountant": False}, {"ACCOUNTANT"}),
        ({"callbacks": False}, {"CALLBACKS", "CALLBACKS_PUBLIC"}),
        ({"rehearsal": False}, {"REHEARSAL"}),
        ({"simulator_dials": ""}, {"SIMULATOR"}),
        ({"auditors": 1}, {"AUDITOR_B"}),
        ({"lookouts": 1}, {"LOOKOUT_MIRROR"}),
        ({"deliverers": 1}, {f"MIRRORS (channel {each})" for each in EVERYTHING.channels}),
        (
            {"kafka_nodes": 1},
            {"KAFKA_2", "KAFKA_2_CONTROLLER", "KAFKA_3", "KAFKA_3_CONTROLLER"},
        ),
        (
            {"channels": tuple(each for each in EVERYTHING.channels if each != "push")},
            {"DELIVERER_PUSH", "MIRRORS (channel push)", "INBOX_APNS"},
        ),
    ],
)
def test_a_port_that_nothing_binds_is_not_checked(
    told: dict[str, object], left_out: set[str]
) -> None:
    assert bound(EVERYTHING) - bound(EVERYTHING.model_copy(update=told)) == left_out


def test_the_far_ends_of_channels_that_the_user_takes_over_bind_nothing() -> None:
    left_out = EVERYTHING.ports().keys() - EVERYTHING.ports(["push", "rabbitmq"]).keys()
    ports = ("INBOX_APNS", "RABBITMQ", "RABBITMQ_NODES", "RABBITMQ_NAMES")
    assert left_out == {f"ALDEBARAN_PORT_{each}" for each in ports}


def test_every_channel_of_ones_own_has_its_port_checked() -> None:
    asked = MachineSettings(channels=("pager", "bus", "horn"), port_deliverers=18084)
    ports = asked.ports()
    assert ports["ALDEBARAN_PORT_DELIVERERS (channel pager)"] == 18084
    assert ports["ALDEBARAN_PORT_DELIVERERS (channel horn)"] == 18086
    assert ports["ALDEBARAN_PORT_DELIVERER_BUS"] == asked.deliverer_port("bus")
    mirrors = MachineSettings(channels=("pager", "horn"), deliverers=2, port_mirrors=7).ports()
    assert mirrors["ALDEBARAN_PORT_MIRRORS (channel horn)"] == 8
    with pytest.raises(MachineProblem, match=r"HEARTBEAT and .*\(channel pager\) both name port"):
        check_ports(ports)
    with pytest.raises(ValidationError, match="65472"):
        MachineSettings(port_deliverers=65473)


def test_what_is_planned_binds_no_port_that_was_not_checked(machine: Machine) -> None:
    everything = EVERYTHING.model_copy(update={"home": machine.home})
    for asked in (everything, machine.settings):
        planned = plan(replace(machine, settings=asked))
        pages = {e.readiness.port for e in planned if isinstance(e.readiness, HttpReadiness)}
        assert len(pages) > 10
        assert pages <= set(asked.ports().values())


def test_a_port_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALDEBARAN_PORT_CONSOLE", "12345")
    assert MachineSettings().ports()["ALDEBARAN_PORT_CONSOLE"] == 12345
