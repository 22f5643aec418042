import socket

import pytest

from services.machine.ports import check_ports, free_ports, is_free
from services.machine.problems import MachineProblem
from services.machine.settings import MachineSettings


def test_free_ports_are_different_and_free() -> None:
    ports = free_ports(5)
    assert len(set(ports)) == 5
    assert all(is_free(port) for port in ports)


def test_a_taken_port_is_named_with_its_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.machine.ports.RELEASE_TIMEOUT_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(MachineProblem) as raised:
            check_ports({"ALDEBARAN_PORT_GATEWAY": port})
    assert f"port {port} is taken" in str(raised.value)
    assert "ALDEBARAN_PORT_GATEWAY" in str(raised.value)
    check_ports({"ALDEBARAN_PORT_GATEWAY": port})


def test_one_port_for_two_is_refused() -> None:
    with pytest.raises(MachineProblem, match="A and B both name port 5"):
        check_ports({"A": 5, "B": 5})


def test_the_default_ports_are_different_and_each_has_its_setting() -> None:
    ports = MachineSettings().ports()
    assert len(set(ports.values())) == len(ports)
    assert all(name.startswith("ALDEBARAN_PORT_") for name in ports)
    assert ports["ALDEBARAN_PORT_KAFKA"] == 19092


def test_a_port_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALDEBARAN_PORT_CONSOLE", "12345")
    assert MachineSettings().ports()["ALDEBARAN_PORT_CONSOLE"] == 12345
