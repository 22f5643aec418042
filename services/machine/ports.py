"""Ports of this machine: free ones for tests, and who holds a taken one."""

import shutil
import socket
import subprocess

ASK_TIMEOUT_SECONDS = 10


def free_ports(count: int) -> list[int]:
    """Return `count` different ports of 127.0.0.1 that were free a moment ago."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for opened in sockets:
            opened.bind(("127.0.0.1", 0))
        return [opened.getsockname()[1] for opened in sockets]
    finally:
        for opened in sockets:
            opened.close()


def is_taken(port: int, host: str = "127.0.0.1") -> bool:
    """Say whether a program listens on the port, or it cannot be bound for another reason."""
    with socket.socket() as attempt:
        attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            attempt.bind((host, port))
        except OSError:
            return True
    return False


def holder(port: int) -> str | None:
    """Describe the process that listens on a port, where the system's tools tell it."""
    commands = (
        ["ss", "-Hltnp", f"sport = :{port}"],
        ["lsof", "-nP", f"-iTCP:{port}", "-sTCP:LISTEN", "-Fcp"],
    )
    for command in commands:
        if shutil.which(command[0]) is None:
            continue
        answer = subprocess.run(
            command, capture_output=True, text=True, timeout=ASK_TIMEOUT_SECONDS, check=False
        )
        described = answer.stdout.strip()
        if described:
            return described.splitlines()[0].split("users:")[-1].strip()
    return None
