"""A real server that speaks S3, started by tests and killed at will: s3proxy over a folder."""

import os
from dataclasses import dataclass
from pathlib import Path

from services.machine.installation import setup
from services.machine.ports import free_ports
from services.machine.supervision.child import Child, start_and_wait
from services.machine.supervision.programs import Program
from services.machine.supervision.readiness import TcpReadiness

LOCK_FILE = Path(__file__).with_name("s3.lock")
BUCKET = "archive"
ACCESS_KEY, SECRET_KEY = "tester", "tester-is-nobodys-secret"
LOOPBACK = "127.0.0.1"
IMPATIENT = {"retry.limit": "1", "retry.interval": "100ms", "attempts.maximum": "1"}
"""Options of a client that gives up soon, where a test lets the store die."""
_PROPERTIES = """\
s3proxy.endpoint=http://{bound}:{port}
s3proxy.authorization=aws-v4
s3proxy.identity={access_key}
s3proxy.credential={secret_key}
jclouds.provider=filesystem-nio2
jclouds.filesystem.basedir={folder}
"""


@dataclass
class S3Server:
    """One server with a bucket of its own folder."""

    folder: Path
    tools: Path
    host: str = LOOPBACK
    """The address of this machine that clients reach it by."""

    def __post_init__(self) -> None:
        self.port = free_ports(1)[0]
        self._running: Child | None = None
        (self.folder / "data" / BUCKET).mkdir(parents=True)
        (self.folder / "s3proxy.conf").write_text(
            _PROPERTIES.format(
                bound=LOOPBACK if self.host == LOOPBACK else "0.0.0.0",  # noqa: S104 - for pods
                port=self.port,
                access_key=ACCESS_KEY,
                secret_key=SECRET_KEY,
                folder=self.folder / "data",
            )
        )

    @property
    def options(self) -> dict[str, str]:
        """What Hadoop's S3 client has to know of it."""
        return {
            "endpoint": f"http://{self.host}:{self.port}",
            "endpoint.region": "us-east-1",
            "access.key": ACCESS_KEY,
            "secret.key": SECRET_KEY,
        }

    def start(self) -> None:
        setup.install_locked(LOCK_FILE, self.tools, os.environ)
        jars = setup.jars_folder(self.tools, "s3proxy")
        command = (
            str(setup.required_java(os.environ)),
            *("-Xmx128m", "-XX:+UseSerialGC", "-cp", f"{jars.resolve()}/*"),
            *("org.gaul.s3proxy.Main", "--properties", str(self.folder / "s3proxy.conf")),
        )
        program = Program("s3", command, readiness=TcpReadiness(self.port))
        self._running = start_and_wait(program, self.folder / "s3.log", os.environ)

    def kill(self) -> None:
        """Let the server die at once, as in a power cut."""
        if self._running is not None:
            self._running.end(0)
            self._running = None
