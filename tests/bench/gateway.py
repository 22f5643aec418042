"""What the gateway takes per second and per core: bodies of many events, and single events."""

import http.client
import os
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice

import psutil

from services.machine.plan.everything import service
from services.machine.ports import free_ports
from services.machine.supervision import child
from tests.bench.engine import ROOT, usage_of
from tests.bench.stores import Broker
from tests.bench.traffic import background

PATH = "/v1/streams/trades/events"
SENDERS = 4
BODIES = 200
"""Different bodies per sender, made before the time begins."""
WARM_UP_SECONDS = 60.0
"""A broker of ten seconds' age takes twice the CPU per event: its Java still compiles."""


@dataclass(frozen=True)
class GatewayRow:
    """Requests with so many events each, from four senders that wait for each answer."""

    events_per_request: int
    events_per_second: int
    events_per_core_second: int
    cores: float
    refused: int
    broker_cpu_us_per_event: float = 0.0
    """What the one broker takes to write an event, nobody reading; 0 in older reports."""


def measure_gateway(broker: Broker, sizes: Sequence[int], seconds: float) -> list[GatewayRow]:
    """Run one gateway process and measure it with each size of request."""
    port = free_ports(1)[0]
    told = {
        "ALDEBARAN_KAFKA_BOOTSTRAP_SERVERS": broker.bootstrap,
        "ALDEBARAN_API_KEYS": "off",
        "PYTHONPATH": str(ROOT),
    }
    program = service("services.gateway", port, after=())
    log_file = broker.home / "log" / "gateway.log"
    running = child.start_and_wait(program, log_file, {**os.environ, **told})
    try:
        process = psutil.Process(running.process.pid)
        send(port, sizes[0], bodies(sizes[0]), WARM_UP_SECONDS)
        used = process, broker.process
        return [measure_requests(used, port, size, seconds) for size in sizes]
    finally:
        running.stop()


def measure_requests(
    processes: tuple[psutil.Process, psutil.Process], port: int, size: int, seconds: float
) -> GatewayRow:
    """Measure gateway and broker with requests of one size, which are made before."""
    made = bodies(size)
    before, started = _cpu(processes), time.monotonic()
    accepted, refused = send(port, size, made, seconds)
    elapsed = time.monotonic() - started
    cpu, of_broker = (now - then for now, then in zip(_cpu(processes), before, strict=True))
    return GatewayRow(
        events_per_request=size,
        events_per_second=int(accepted / elapsed),
        events_per_core_second=int(accepted / cpu),
        cores=round(cpu / elapsed, 2),
        refused=refused,
        broker_cpu_us_per_event=round(of_broker / accepted * 1e6, 1),
    )


def _cpu(processes: Iterable[psutil.Process]) -> list[float]:
    return [usage_of([each]).cpu_seconds for each in processes]


def bodies(size: int) -> list[list[bytes]]:
    """Make the requests of each sender, which takes some tenths of a second in all."""
    made = []
    for sender in range(SENDERS):
        events = (event for _, event in background(f"gateway-{sender}-{size}"))
        made.append([b"\n".join(islice(events, size)) for _ in range(BODIES)])
    return made


def send(port: int, size: int, made: Sequence[Sequence[bytes]], seconds: float) -> tuple[int, int]:
    """Send until the time is over; return how many events were accepted, and were not."""
    with ThreadPoolExecutor(SENDERS) as pool:
        jobs = [pool.submit(_sender, port, size, each, seconds) for each in made]
        counted = [job.result() for job in jobs]
    return sum(ok for ok, _ in counted), sum(bad for _, bad in counted)


def _sender(port: int, size: int, made: Sequence[bytes], seconds: float) -> tuple[int, int]:
    connection, sent, refused = http.client.HTTPConnection("127.0.0.1", port), 0, 0
    headers = {"content-type": "application/x-ndjson"}
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        connection.request("POST", PATH, made[sent % BODIES], headers)
        answer = connection.getresponse()
        answer.read()
        sent += 1
        refused += answer.status != 200
    connection.close()
    return (sent - refused) * size, refused * size
