"""Ports of this machine: free ones for tests, and who holds a taken one."""

import socket
import subprocess
from collections.abc import Mapping
from functools import partial
from typing import Final

from services.machine.problems import MachineProblem
from services.machine.reserved import Reservation
from services.machine.waiting import wait_until

RELEASE_TIMEOUT_SECONDS = 3.0
ASK_TIMEOUT_SECONDS = 10


def free_ports(count: int) -> list[int]:
    """Return `count` different free ports of 127.0.0.1 that this process has for itself."""
    return _RESERVED.take(count)


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Say whether the port can be bound, as a server would."""
    with socket.socket() as attempt:
        attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            attempt.bind((host, port))
        except OSError:
            return False
    return True


_RESERVED: Final = Reservation(is_free)


def holder(port: int) -> str | None:
    """Describe the process that listens on a port, where the system's tools tell it."""
    if said := _answer(["ss", "-Hltnp", f"sport = :{port}"]):
        return said.splitlines()[0].split("users:")[-1].strip()
    if said := _answer(["lsof", "-nP", f"-iTCP:{port}", "-sTCP:LISTEN", "-Fcp"]):
        first = {line[0]: line[1:] for line in reversed(said.splitlines())}
        return f"{first.get('c', '')} (process {first.get('p', '')})".strip()
    return None


def _answer(command: list[str]) -> str:
    """Return what a tool says; nothing where there is none, or it comes to no end."""
    try:
        asked = subprocess.run(
            command, capture_output=True, text=True, timeout=ASK_TIMEOUT_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return asked.stdout.strip()


def check_ports(ports: Mapping[str, int]) -> None:
    """Raise MachineProblem unless each port is free and used once; `ports` is by setting's name.

    A port held by programs of a run that was just killed is waited for.
    """
    for setting, port in ports.items():
        others = [name for name, value in ports.items() if value == port and name != setting]
        if others:
            raise MachineProblem(f"{setting} and {', '.join(others)} both name port {port}")
    for setting, port in ports.items():
        try:
            wait_until(partial(is_free, port), RELEASE_TIMEOUT_SECONDS, "")
        except MachineProblem:
            by = f" by {found}" if (found := holder(port)) else ""
            raise MachineProblem(
                f"port {port} is taken{by}: free it, or choose another by {setting}"
            ) from None
