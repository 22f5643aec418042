"""Accountants as real processes, with short times."""

import json
import os
import subprocess
import sys
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from services.machine.ports import free_ports
from services.machine.supervision import child
from services.machine.supervision.programs import Program
from services.machine.supervision.readiness import HttpReadiness
from tests.integration.deliverer.waiting import DEADLINE_SECONDS
from tests.said import written_to

TARGETS: Final = [
    {"channel": "bus", "recipient": "notifications"},
    {"channel": "log", "recipient": "desk"},
]


@dataclass
class Accountants:
    """Starts accountants of one group on one ledger."""

    bootstrap: str
    ledger_url: str
    folder: Path
    beats_port: int
    port: int = field(default_factory=lambda: free_ports(1)[0])
    running: child.Child | None = None

    def environment(self) -> dict[str, str]:
        return {
            "ALDEBARAN_HTTP_PORT": str(self.port),
            "ALDEBARAN_KAFKA_BOOTSTRAP_SERVERS": self.bootstrap,
            "ALDEBARAN_POSTGRES_URL": self.ledger_url,
            "ALDEBARAN_ACCOUNTANT_RECIPIENTS": json.dumps(TARGETS),
            "ALDEBARAN_ACCOUNTANT_BEHIND_SECONDS": "0.5",
            "ALDEBARAN_ACCOUNTANT_TURN_SECONDS": "0.3",
            "ALDEBARAN_ACCOUNTANT_RAISE_SECONDS": "0.1",
            "ALDEBARAN_ACCOUNTANT_DUE_SECONDS": "1",
            "ALDEBARAN_ACCOUNTANT_HELD_SECONDS": "0.5",
            "ALDEBARAN_ACCOUNTANT_HEARTBEAT_URL": f"http://127.0.0.1:{self.beats_port}/beat",
            "ALDEBARAN_ACCOUNTANT_HEARTBEAT_SECONDS": "0.1",
        }

    def start(self) -> None:
        command = (sys.executable, "-m", "services.accountant")
        program = Program("accountant", command, self.environment(), HttpReadiness(self.port))
        log_file = self.folder / "accountant.log"
        self.running = child.start_and_wait(program, log_file, os.environ)

    def kill(self) -> None:
        """End it as a power cut does."""
        assert self.running is not None
        self.running.process.kill()
        self.running.process.wait(60)
        self.running = None

    def turns(self) -> float:
        """Return when the last accounting ended, in seconds since 1970."""
        return self._metric("aldebaran_accountant_accounted_at_seconds")

    def compared(self) -> float:
        """Return how many records of topic alerts were compared since its start."""
        return self._metric("aldebaran_accountant_alerts_total")

    def failures(self) -> int:
        """Return how often it has said that it cannot account."""
        return self.log().count('"cannot_account"')

    def log(self) -> str:
        """Return what it has logged."""
        return written_to(self.folder / "accountant.log")

    def _metric(self, name: str) -> float:
        with urllib.request.urlopen(
            f"http://127.0.0.1:{self.port}/metrics", timeout=DEADLINE_SECONDS
        ) as page:
            lines = page.read().decode().splitlines()
        return next(float(line[len(name) :]) for line in lines if line.startswith(f"{name} "))

    def once(self) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "services.accountant", "once"],
            env=os.environ | self.environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def close(self) -> None:
        if self.running is not None:
            self.running.stop()
            assert self.running.exit_code == 0
