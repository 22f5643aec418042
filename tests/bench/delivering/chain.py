"""Lookout and deliverer as real processes, and the receiver at the far end."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from services.contracts.topics import core_topics
from services.machine.plan.everything import deliverers, lookouts
from services.machine.ports import free_ports
from services.machine.supervision import child
from services.machine.supervision.programs import Program
from tests.bench.delivering.far_ends import FAR_ENDS
from tests.bench.delivering.receivers import Site
from tests.bench.engine import ROOT
from tests.bench.stores import fresh_broker, fresh_postgres

CHANNELS = tuple(FAR_ENDS)


@dataclass(frozen=True)
class Chain:
    """Where everything is."""

    home: Path
    bootstrap: str
    postgres_url: str
    channel: str
    recipient: str
    receiver: "subprocess.Popen[str]"
    processes: Mapping[str, psutil.Process]

    def cpu_seconds(self) -> dict[str, float]:
        """Return the processor time of each program so far."""
        return {name: sum(each.cpu_times()[:2]) for name, each in self.processes.items()}

    def received(self) -> dict[str, list[int]]:
        """End the receiver; return the times of first bytes by delivery id."""
        said, _ = self.receiver.communicate("end\n", timeout=60)
        seen: dict[str, list[int]] = json.loads(said)
        return seen


@contextmanager
def chain(
    channel: str, settings: Mapping[str, str], answer_after: float = 0.0, each: int = 1
) -> Iterator[Chain]:
    """Run everything between topic `alerts` and the first byte on one channel.

    `each` is how many lookouts and deliverers there are: one, or two of which one is a mirror.

    Raises:
        Unavailable: this machine lacks the far end.
    """
    with ExitStack() as closing:
        bootstrap, home = closing.enter_context(fresh_broker(core_topics(CHANNELS)))
        url = closing.enter_context(fresh_postgres(home))
        site = Site(free_ports(1)[0], home / "far-end", bootstrap, answer_after)
        site.folder.mkdir()
        far_end = FAR_ENDS[channel](site)
        for server in far_end.servers:
            closing.enter_context(_running(server, home, {}))
        receiver = closing.enter_context(receiving(channel, site))
        routes = home / "routes.yaml"
        routes.write_text(_routes(channel, far_end.recipient))
        told = {
            "ALDEBARAN_KAFKA_BOOTSTRAP_SERVERS": bootstrap,
            "ALDEBARAN_POSTGRES_URL": url,
            "ALDEBARAN_ROUTES_FILE": str(routes),
            "ALDEBARAN_CHANNELS": json.dumps(CHANNELS),
            "PYTHONPATH": str(ROOT),
            **far_end.settings,
            **settings,
        }
        programs = [
            *lookouts(free_ports(each)),
            *deliverers(channel, free_ports(each)),
        ]
        found = {one.name: closing.enter_context(_running(one, home, told)) for one in programs}
        yield Chain(home, bootstrap, url, channel, far_end.recipient, receiver, found)


@contextmanager
def receiving(channel: str, site: Site) -> Iterator["subprocess.Popen[str]"]:
    """Run what takes the channel's deliveries."""
    command = [sys.executable, "-m", "tests.bench.delivering.receivers", "--channel", channel]
    command += ["--port", str(site.port), "--folder", str(site.folder)]
    command += ["--bootstrap", site.bootstrap, "--answer-after", str(site.answer_after_seconds)]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    try:
        if process.stdout is None or process.stdout.readline() != "listening\n":
            raise RuntimeError("the receiver does not listen")
        yield process
    finally:
        process.kill()
        process.communicate()


@contextmanager
def _running(program: Program, home: Path, settings: Mapping[str, str]) -> Iterator[psutil.Process]:
    log_file = home / "log" / f"{program.name}.log"
    running = child.start_and_wait(program, log_file, {**os.environ, **settings})
    try:
        yield psutil.Process(running.process.pid)
    finally:
        running.stop()


def _routes(channel: str, recipient: str) -> str:
    send = f"{{channel: {channel}, to: '{recipient}'}}"
    return f"version: 1\nroutes: []\ndefault:\n  send:\n    - {send}\n"
