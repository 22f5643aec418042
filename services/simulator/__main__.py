"""`python -m services.simulator`: traffic with dials, and a report of what it did."""

import sys
from collections.abc import Sequence
from typing import Final

from prometheus_client import REGISTRY

from services.backbone import service
from services.backbone.kafka.producer import Producer
from services.backbone.service import Life
from services.backbone.settings import read_settings
from services.simulator.command_line import parse
from services.simulator.course import Course
from services.simulator.dials import Dials, Target
from services.simulator.gateway_sender import GatewaySender
from services.simulator.history import history
from services.simulator.kafka_sender import KafkaSender
from services.simulator.metrics import TallyCollector
from services.simulator.report import Report, report_of
from services.simulator.sending import Sender
from services.simulator.settings import SimulatorSettings
from services.simulator.tally import Tally

UNPACED_LINGER_MS: Final = 5
"""At full speed throughput counts, not latency: larger batches to the broker."""


def course_of(dials: Dials, settings: SimulatorSettings, life: Life, run_id: str) -> Course:
    """Put one run together."""
    return Course(
        dials=dials,
        life=life,
        sender=sender_of(dials, settings, life),
        tally=Tally(dials.report_ids),
        messages=history(dials.shape, run_id, dials.orders),
        answer_timeout_seconds=settings.simulator_answer_timeout_seconds,
    )


def sender_of(dials: Dials, settings: SimulatorSettings, life: Life) -> Sender:
    """Return the sender for the run's target."""
    if dials.to is Target.KAFKA:
        linger = {"producer_linger_ms": UNPACED_LINGER_MS} if dials.unpaced else {}
        settings = settings.model_copy(update=linger).naming_unknown_topics()
        producer = Producer(settings, "simulator")
        return KafkaSender(producer, settings.simulator_stream)
    key = settings.simulator_api_key
    return GatewaySender(
        url=settings.simulator_gateway_url,
        stream=settings.simulator_stream,
        api_key=key.get_secret_value() if key else None,
        clock=life.clock,
    )


def run_and_report(dials: Dials, settings: SimulatorSettings, life: Life) -> Report:
    """Run to the end, whatever ends it; write the report."""
    run_id = dials.run_id or f"s{dials.shape.seed}-{life.clock.now_ms():x}"
    course = course_of(dials, settings, life, run_id)
    life.health.add_live("loop", course.stuck)
    life.health.add_ready("answers", course.quiet)
    collector = TallyCollector(course.tally, course.sender.retried)
    REGISTRY.register(collector)
    try:
        course.go()
    finally:
        REGISTRY.unregister(collector)
        report = report_of(
            course.tally,
            run_id=run_id,
            seed=dials.shape.seed,
            target=dials.to.value,
            watch=dials.watch,
            seconds=course.elapsed_seconds(),
            lag_max_seconds=course.lag_seconds_max,
            retried=course.sender.retried(),
        )
        sys.stdout.write(report.text())
        sys.stdout.flush()
        if dials.report:
            dials.report.write_text(report.model_dump_json(indent=2) + "\n")
    return report


def main(arguments: Sequence[str]) -> int:
    """Run with a command line; return the exit code."""
    dials, overrides = parse(arguments)
    settings = read_settings(SimulatorSettings, **overrides)
    return service.run("simulator", settings, lambda life: _body(dials, settings, life))


def _body(dials: Dials, settings: SimulatorSettings, life: Life) -> None:
    run_and_report(dials, settings, life)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
