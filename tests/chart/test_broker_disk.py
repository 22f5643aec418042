"""The embedded brokers' liveness probe, run as it is rendered: what ends a broker, and what not.

By the tools of this machine, and by BusyBox, which the official image has in their place. The disk
that takes nothing is a pipe that nobody reads; the broker that serves is a real one.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pytest
import yaml

from tests.chart.goldens import golden
from tests.chart.rendering import EXAMPLES

NAME: Final = "t-aldebaran-kafka"
FULL: Final = next(case for case in EXAMPLES if case.parent.name == "full")
TOOLS: Final = ("dd", "head", "wc", "timeout", "sleep", "seq", "find", "touch")
BUSYBOX: Final = shutil.which("busybox")
TIMEOUT_SECONDS: Final = 60
PEER: Final = "127.0.0.1"
NOBODY: Final = "127.0.0.77"
"""An address of this machine at which no broker listens."""
TWO_MINUTES: Final = 120.0


def rendered_probe() -> str:
    """Return the script that Kubernetes runs in the pod of a broker of three."""
    objects = yaml.safe_load_all(golden(FULL).read_text("utf-8"))
    (brokers,) = (
        each
        for each in objects
        if each and (each["kind"], each["metadata"]["name"]) == ("StatefulSet", NAME)
    )
    (container,) = brokers["spec"]["template"]["spec"]["containers"]
    bash, option, script = container["livenessProbe"]["exec"]["command"]
    assert (bash, option) == ("bash", "-c")
    return str(script)


@dataclass(frozen=True)
class Pod:
    """A folder in place of a broker's pod, and the programs that its script finds.

    By its number it waits for its disk the longest, and it waits for an answer for long: nothing
    that is well may seem late on a busy machine.
    """

    home: Path
    port: int
    programs: str
    peer: str = PEER
    number: int = 2
    nap_seconds: float = 0.2
    answer_seconds: int = 20

    @property
    def heard(self) -> Path:
        """The file whose age says when the broker last answered."""
        return self.home / "heard"

    @property
    def probe(self) -> Path:
        """The block that is written beside the log."""
        return self.home / "disk-probe"

    def script(self) -> str:
        """Return the probe with this folder's paths, a port of this machine, and these times."""
        script = rendered_probe()
        for found, ours in (
            (r"/var/lib/aldebaran/data", str(self.probe.parent)),
            (r"\S+/heard\b", str(self.heard)),
            (r"/9092", f"/{self.port}"),
            (r'"\$host\.[\w.-]+"', self.peer),
            (r"sleep 0\.2", f"sleep {self.nap_seconds}"),
            (r"timeout 2 ", f"timeout {self.answer_seconds} "),
        ):
            script, count = re.subn(found, ours, script)
            assert count, found
        return script

    def look(self) -> tuple[int, str]:
        """Run the probe; return its exit code and what it says. What it leaves is ended."""
        environment = {"PATH": self.programs, "HOSTNAME": f"{NAME}-{self.number}"}
        command = [shutil.which("bash") or "bash", "-c", self.script()]
        with (self.home / "said").open("w+") as said:
            running = subprocess.Popen(
                command, stdout=said, env=environment, start_new_session=True
            )
            try:
                code = running.wait(TIMEOUT_SECONDS)
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(running.pid, signal.SIGKILL)
            said.seek(0)
            return code, said.read()


@pytest.fixture(params=["this machine's tools", "BusyBox"])
def programs(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The search path of a pod."""
    if request.param != "BusyBox":
        return os.environ["PATH"]
    if BUSYBOX is None:
        pytest.skip("needs BusyBox: apt-get install busybox")
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in TOOLS:
        (folder / tool).symlink_to(BUSYBOX)
    (folder / "bash").symlink_to(shutil.which("bash") or "/bin/bash")
    return str(folder)


@pytest.fixture
def pod(tmp_path: Path, programs: str, kafka_bootstrap: str) -> Pod:
    """A pod whose own broker serves, as the others do."""
    return Pod(tmp_path, int(kafka_bootstrap.rpartition(":")[2]), programs)


@contextmanager
def disk_that_takes_nothing(pod: Pod) -> Iterator[Pod]:
    """Let the probe's block wait for as long as this lasts; yield the pod, soon out of patience."""
    os.mkfifo(pod.probe)
    yield replace(pod, number=0, nap_seconds=0.02)
    pod.probe.unlink()


def test_a_broker_that_answers_on_a_disk_that_takes_its_block_lives(pod: Pod) -> None:
    assert pod.look() == (0, "")
    assert pod.heard.exists()
    assert pod.probe.stat().st_size == 512


def test_a_disk_that_takes_nothing_ends_a_broker_while_the_others_serve(pod: Pod) -> None:
    with disk_that_takes_nothing(pod) as late:
        assert late.look() == (1, "its disk takes no block, and the other brokers serve\n")


def test_where_another_broker_does_not_serve_a_late_disk_ends_none(pod: Pod) -> None:
    with disk_that_takes_nothing(replace(pod, peer=NOBODY)) as alone:
        assert alone.look() == (0, "")


def test_an_open_port_that_answers_nothing_ends_a_broker_that_had_answered(pod: Pod) -> None:
    with socket.create_server((PEER, 0)) as dead:
        silent = replace(pod, port=dead.getsockname()[1], answer_seconds=1)
        assert silent.look() == (0, "")  # it has never answered: its start is not over
        silent.heard.touch()
        assert silent.look() == (0, "")
        long_ago = time.time() - TWO_MINUTES
        os.utime(silent.heard, (long_ago, long_ago))
        assert silent.look() == (1, "it has not answered for a minute\n")
