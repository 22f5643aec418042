"""`make bench`: latency and sustained rate of watching and delivering, on servers of its own.

Every row runs alone on the same broker, one after the other, with its own topics; compare rows of
one run only.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from itertools import islice
from pathlib import Path

from confluent_kafka import Producer

from services.contracts.streams import load_streams
from services.contracts.topics import Topic, core_topics, stream_topics
from tests.bench.delivering.claims import measure_claims
from tests.bench.delivering.first_byte import measure_first_byte
from tests.bench.delivering.storm import measure_storm
from tests.bench.engine import ROOT, Engine, engine
from tests.bench.load import client
from tests.bench.markers import Markers
from tests.bench.percentiles import summary
from tests.bench.probe import Found, Prober
from tests.bench.report import DrainRow, LatencyRow, Report
from tests.bench.stores import fresh_broker
from tests.bench.traffic import background, crossing, opening, probe_order

STREAM = "trades"
ECHO = "echo"
PARTS = ("delivering", "watching")
BOUNDARY_MARGIN_NS = 1_000_000_000
DRAIN_TIMEOUT_SECONDS = 600
FIRST_ALERT_TIMEOUT_SECONDS = 180
SHIPPED = ROOT / "spark-apps" / "auditor" / "watches" / "over-purchase.yaml"
ENGINES = {"real-time": "auditor", "micro-batch": "tests.bench.micro_batch"}


def main() -> int:
    """Measure what the arguments ask for; write the report."""
    told = arguments()
    report = Report()
    if "delivering" in told.parts:
        deliver(report, told)
    if "watching" not in told.parts:
        told.drain, told.rates = [], []
    for watch in told.drain:
        say(f"draining {told.backlog} events with {watch.stem}")
        report.drain.append(drain(watch, told.backlog))
    for rate in told.rates:
        for name in told.engines:
            say(f"latency of {name} at {rate}/s, {told.seconds:g} s")
            report.latency.append(latency(name, rate, told))
            report.write(told.report)
    sys.stdout.write(report.write(told.report).read_text())
    return 0


def deliver(report: Report, told: argparse.Namespace) -> None:
    """Measure claims, the way from alert to first byte, and a storm."""
    with tempfile.TemporaryDirectory() as folder:
        say(f"claims on {told.waiting} waiting deliveries")
        report.claims = measure_claims(Path(folder), told.waiting, (1, 10, 100), 10.0)
    for channel in ("webhook", "bus"):
        say(f"first byte on {channel}")
        report.first_bytes.append(measure_first_byte(channel, 100, told.first_byte_seconds, 15.0))
        report.write(told.report)
    say(f"storm of {told.storm} alerts")
    report.storm = measure_storm(told.storm, 10_000, 200)


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--waiting", type=int, default=200_000, help="deliveries to claim from")
    parser.add_argument("--first-byte-seconds", type=float, default=60)
    parser.add_argument("--storm", type=int, default=60_000, help="alerts of the storm")
    parser.add_argument("--rates", type=int, nargs="*", default=[1000, 10_000])
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--warm-up", type=float, default=75)
    parser.add_argument("--probes", type=float, default=50, help="probes per second")
    parser.add_argument("--batch-seconds", type=float, default=20)
    parser.add_argument("--backlog", type=int, default=1_500_000)
    parser.add_argument("--engines", nargs="*", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--drain", type=Path, nargs="*", default=drained_watches())
    parser.add_argument("--report", type=Path, default=ROOT / "docs" / "reports")
    return parser.parse_args()


def drained_watches() -> list[Path]:
    """Return the watches whose steps are compared: ever more of the shipped one, then itself."""
    return [*sorted((Path(__file__).parent / "watches").glob("*/*.yaml")), SHIPPED]


def bench_topics() -> list[Topic]:
    """Return the stream's, the core's and the echo topic."""
    stream = load_streams()[STREAM]
    return [*stream_topics(stream), *core_topics([]), Topic(ECHO)]


def latency(name: str, rate: int, told: argparse.Namespace) -> LatencyRow:
    """Measure one engine at one rate, beside the echo."""
    with fresh_broker(bench_topics()) as (bootstrap, home):
        settings = watch_settings(home, SHIPPED) | {
            "ALDEBARAN_AUDITOR_BATCH_SECONDS": str(told.batch_seconds)
        }
        with engine(bootstrap, home, name, settings, ENGINES[name]) as running:
            return measured(bootstrap, name, rate, told, running)


def measured(
    bootstrap: str, name: str, rate: int, told: argparse.Namespace, running: Engine
) -> LatencyRow:
    """Wait for a first alert, offer the load, warm up, probe, and summarise."""
    with Markers(bootstrap, "alerts") as markers:
        write_markers(client(bootstrap), 0, 1)
        markers.wait(1, FIRST_ALERT_TIMEOUT_SECONDS)
    load = start_load(bootstrap, rate, told.warm_up + told.seconds + 10)
    time.sleep(told.warm_up)
    cpu, started = running.cpu_seconds(), time.monotonic()
    found = Prober(bootstrap, STREAM, "alerts", ECHO, "m", told.probes, told.seconds).measure()
    cores = (running.cpu_seconds() - cpu) / (time.monotonic() - started)
    memory = running.memory_mebibytes()
    outcome = json.loads(load.communicate(timeout=300)[0])
    ends = boundaries(running)
    row = row_of(name, rate, found, ends)
    return replace(
        row, engine_cpu_cores=round(cores, 2), engine_memory_mebibytes=memory, load=outcome
    )


def row_of(name: str, rate: int, found: Found, ends_ns: list[int]) -> LatencyRow:
    """Summarise what the probes found."""
    alerts = found.alert_latencies()
    first, last = min(found.intended_ns.values()), max(found.intended_ns.values())
    inside = [end for end in ends_ns if first <= end <= last]
    steady = [
        taken
        for index, taken in alerts.items()
        if all(abs(found.intended_ns[index] - end) > BOUNDARY_MARGIN_NS for end in inside)
    ]
    return LatencyRow(
        engine=name,
        rate=rate,
        probes=len(found.intended_ns),
        missing=len(found.intended_ns) - len(alerts),
        alert=summary(list(alerts.values())),
        between_boundaries=summary(steady or list(alerts.values())),
        echo=summary(list(found.echo_latencies().values())),
        boundaries=len(inside),
        engine_cpu_cores=0,
        engine_memory_mebibytes=0,
        load={},
    )


def boundaries(running: Engine) -> list[int]:
    """Return when batches ended, on the monotonic clock in ns, from the engine's log."""
    offset_ns = time.time_ns() - time.monotonic_ns()
    ends = []
    for line in running.log_file.read_text().splitlines():
        if line.startswith("{") and (said := json.loads(line)).get("event") == "batch":
            ends.append(int(said["ended_at_ms"]) * 1_000_000 - offset_ns)
    return ends


def start_load(bootstrap: str, rate: int, seconds: float) -> "subprocess.Popen[str]":
    """Start the background load as a process of its own."""
    command = [sys.executable, "-m", "tests.bench.load", "--bootstrap", bootstrap]
    command += ["--topic", STREAM, "--run", "load", "--rate", str(rate)]
    command += ["--seconds", str(seconds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def drain(watch: Path, events: int) -> DrainRow:
    """Fill the topic, start the auditor, and time from the first marker's alert to the last's."""
    with fresh_broker(bench_topics()) as (bootstrap, home):
        partitions = load_streams()[STREAM].partitions
        fill(bootstrap, events, partitions)
        started_ns, settings = time.monotonic_ns(), watch_settings(home, watch)
        with (
            Markers(bootstrap, "alerts") as markers,
            engine(bootstrap, home, "drain", settings) as running,
        ):
            markers.wait(1, DRAIN_TIMEOUT_SECONDS)
            cpu_before = running.cpu_seconds()
            seen_ns = markers.wait(2 * partitions, DRAIN_TIMEOUT_SECONDS)
            cpu = running.cpu_seconds() - cpu_before
    begin, end = min(seen_ns), max(seen_ns)
    seconds = (end - begin) / 1e9
    say(f"  first alert after {(begin - started_ns) / 1e9:.1f} s")
    return DrainRow(watch.stem, events, seconds, int(events / seconds), cpu / events * 1e6)


def fill(bootstrap: str, events: int, partitions: int) -> None:
    """Write a backlog with a marker at each end of every partition."""
    producer = client(bootstrap)
    write_markers(producer, 0, partitions)
    for key, event in islice(background("backlog"), events):
        while True:
            try:
                producer.produce(STREAM, event, key)
                break
            except BufferError:
                producer.poll(0.1)
        producer.poll(0)
    write_markers(producer, partitions, partitions)


def write_markers(producer: Producer, first: int, partitions: int) -> None:
    """Write one whole probe to each partition, after all that was produced before."""
    producer.flush(120)
    for partition in range(partitions):
        order = probe_order("m", first + partition)
        for event in [*opening(order), crossing(order)]:
            producer.produce(STREAM, event, order, partition)
    producer.flush(120)


def watch_settings(home: Path, watch: Path) -> dict[str, str]:
    """Return the settings that run this watch alone."""
    folder = home / "watches" / watch.stem
    folder.mkdir(parents=True)
    shutil.copy(watch, folder)
    return {"ALDEBARAN_AUDITOR_WATCHES": str(folder)}


def say(what: str) -> None:
    """Tell the person at the terminal what is going on."""
    sys.stderr.write(f"bench: {what}\n")


if __name__ == "__main__":
    sys.exit(main())
