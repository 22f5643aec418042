"""Whether all of a running system is well: ready, answering, every copy of every record in step."""

import re

import httpx2
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from tests.acceptance.system import System

ANSWER_SECONDS = 5.0
BEATS_SECONDS = 5.0
"""Two beats and the time for an answer: the heartbeat itself names who is late after 10 s."""
AGE = re.compile(r"^aldebaran_heartbeat_answer_age_seconds\{(.*)\} (\S+)$", re.MULTILINE)
PROGRAMS = (
    "gateway", "auditor", "auditor_b", "lookout", "lookout_mirror", "heartbeat", "console",
    "archivist", "accountant", "callbacks", "rehearsal",
)  # fmt: skip
"""Programs with pages, beside the deliverers, by the names of their ports."""


def not_well(system: System, bootstrap: str) -> str | None:
    """Say what is not well, or None."""
    first = [f"deliverer_{channel}" for channel in system.channels]
    for name in (*PROGRAMS, *first, *(f"{each}_mirror" for each in first)):
        if f"ALDEBARAN_PORT_{name.upper()}" in system.ports and (why := not_ready(system, name)):
            return f"{name}: {why}"
    return unheard(system) or out_of_step(bootstrap)


def not_ready(system: System, name: str) -> str | None:
    """Say why a program is not ready; the heartbeat's notes name auditors that do not answer."""
    try:
        answer = httpx2.get(system.url(name) + "/healthz/ready", timeout=ANSWER_SECONDS)
        said = answer.json()
    except (httpx2.HTTPError, ValueError) as error:
        return repr(error)
    trouble = said["failures"] or (said.get("notes") if name == "heartbeat" else None)
    return str(trouble) if trouble else None


def unheard(system: System) -> str | None:
    """Name an auditor that has not answered the last beats, or say that nobody can tell."""
    try:
        return unanswered(system.text("heartbeat", "/metrics"))
    except httpx2.HTTPError as error:
        return f"heartbeat: {error!r}"


def unanswered(metrics: str) -> str | None:
    """Name an auditor that has not answered the last beats, as a page of the heartbeat tells."""
    late = [whose for whose, age in AGE.findall(metrics) if float(age) > BEATS_SECONDS]
    return f"no answer from {late[0]}" if late else None


def out_of_step(bootstrap: str) -> str | None:
    """Name a partition of which a broker has no whole copy."""
    try:
        listed = AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=ANSWER_SECONDS)
    except KafkaException as error:
        return repr(error)
    for name, topic in listed.topics.items():
        for number, partition in topic.partitions.items():
            if len(partition.isrs) < len(partition.replicas) or partition.leader < 0:
                return f"{name}/{number}: in step {partition.isrs} of {partition.replicas}"
    return None
