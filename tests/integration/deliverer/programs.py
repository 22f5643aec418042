"""Deliverers as real processes."""

import os
import signal
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from services.machine.ports import free_ports
from tests.integration.deliverer.waiting import DEADLINE_SECONDS, until
from tests.integration.nursery import Child, nursery
from tests.said import said, written_to

ROOT = Path(__file__).parents[3]


@dataclass
class DelivererProcess:
    """One `python -m services.deliverer`, with short times so that a test needs not wait long."""

    environment: dict[str, str]
    log_file: Path
    port: int = field(default_factory=lambda: free_ports(1)[0])
    process: Child | None = None
    module: str = "services.deliverer"
    arguments: tuple[str, ...] = ()

    def start(self, ready: bool = True) -> "DelivererProcess":
        own = {"ALDEBARAN_HTTP_PORT": str(self.port), "PYTHONPATH": str(ROOT)}
        self.process = nursery().start(
            self.module, self.arguments, os.environ | self.environment | own, self.log_file
        )
        if ready:
            until(lambda: self.page("/healthz/ready")[0] == 200, f"{self.module} ready")
        return self

    @property
    def runs(self) -> bool:
        """Whether it was started and has not ended."""
        return self.process is not None and self.process.poll() is None

    def page(self, path: str) -> tuple[int, str]:
        """Return a page's status and text; status 0 while nobody listens."""
        try:
            with urllib.request.urlopen(
                f"http://127.0.0.1:{self.port}{path}", timeout=DEADLINE_SECONDS
            ) as page:
                return page.status, page.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()
        except OSError:
            return 0, ""

    def metric(self, name: str) -> float:
        """Return the sum of a metric's samples."""
        lines = self.page("/metrics")[1].splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name))

    def send_signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal and return the exit code."""
        self.send_signal(number)
        assert self.process is not None
        return self.process.wait(30)

    def logged(self, event: str) -> list[dict[str, object]]:
        return said(written_to(self.log_file), event)

    @contextmanager
    def running(self) -> Iterator["DelivererProcess"]:
        try:
            yield self.start()
        finally:
            self.kill()

    def kill(self) -> None:
        if self.process is not None and self.runs:
            self.process.kill()
            self.process.wait(30)
