"""What the user is told once everything runs: where to look."""

import shlex
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from services.backbone.settings import PREFIX, KafkaSettings
from services.backbone.settings_sources import SECRETS_DIR, SETTINGS_FILE
from services.machine.plan.api_key import CONSOLE_PASSWORD
from services.machine.plan.everything import set_anyway
from services.machine.plan.machine import Machine
from services.machine.plan.routes import routes_file
from services.machine.supervision.programs import Program
from services.machine.supervision.readiness import HttpReadiness

PLACES = (
    ("console", "page", ""),
    ("gateway", "API", "/docs"),
    ("lookout", "operators' API", "/openapi.json"),
    ("inbox", "deliveries that arrived", "/received"),
    ("heartbeat", "auditors that disagree", "/v1/disagreements"),
)

DECLARED: Final = (
    SETTINGS_FILE,
    SECRETS_DIR,
    "ALDEBARAN_STREAMS_DIR",
    "ALDEBARAN_WATCHES_DIR",
)
"""Paths of what users declare; a command that is not told goes by what is shipped."""
CHANNELS: Final = "ALDEBARAN_CHANNELS"
BROKERS: Final = "kafka_bootstrap_servers"


def welcome(
    programs: tuple[Program, ...],
    machine: Machine,
    told: Mapping[str, str],
    replaced: Collection[str] = (),
) -> str:
    """Write the lines that say where the page, the API, metrics and logs are.

    `told` is what every program finds in its environment, `replaced` are keys of the user's that
    open nothing here.
    """
    ports = {
        program.name: program.readiness.port
        for program in programs
        if isinstance(program.readiness, HttpReadiness)
    }
    places = [
        (what, f"http://127.0.0.1:{ports[name]}{path}")
        for name, what, path in PLACES
        if name in ports
    ]
    metrics = [(f"metrics, {name}", f"http://127.0.0.1:{ports[name]}/metrics") for name in ports]
    rest = [
        ("Kafka", machine.brokers.bootstrap),
        (
            "Postgres",
            f"127.0.0.1:{machine.server.port} (password in {machine.server.password_file})",
        ),
        *keys(machine),
        *routing(machine),
        ("logs", str(machine.home / "log")),
    ]
    lines = [f"  {what:<28} {where}" for what, where in (*places, *metrics, *rest)]
    running = "Aldebaran is running. Ctrl-C stops everything."
    in_vain = without_effect([*set_anyway(programs, machine), *replaced])
    return "\n".join([running, *lines, *in_vain, *commands(machine, told), ""])


def without_effect(names: Collection[str]) -> list[str]:
    """Return the line that tells which settings of the user's change nothing, if there are any."""
    if not names:
        return []
    told = ", ".join(sorted(names))
    return [f"`make run` sets {told} itself; what you name there changes nothing."]


def commands(machine: Machine, told: Mapping[str, str]) -> list[str]:
    """Return the lines that make another terminal ready for `python -m services.<name>`."""
    activate = machine.tools / "venv" / "bin" / "activate"
    return [
        "For the commands of the documents, in another terminal, in this folder:",
        f"  . {shlex.quote(str(activate))}",
        f"  export ALDEBARAN_POSTGRES_URL={machine.server.url_in_shell()}",
        *(f"  export {name}={shlex.quote(value)}" for name, value in beside(machine, told).items()),
    ]


def beside(machine: Machine, told: Mapping[str, str]) -> dict[str, str]:
    """Return what a command would take otherwise, of what every program is told; no secret."""
    given = {name: value for name in (*DECLARED, CHANNELS) if (value := told.get(name))}
    whole = {
        name: str(Path(given[name]).expanduser().resolve()) for name in given.keys() & DECLARED
    }
    name, usual = PREFIX + BROKERS.upper(), KafkaSettings.model_fields[BROKERS].default
    is_usual = machine.brokers.bootstrap == usual and name not in machine.named
    return given | whole | ({} if is_usual else {name: machine.brokers.bootstrap})


def keys(machine: Machine) -> list[tuple[str, str]]:
    """Return where this machine's keys and password are, unless the user's are taken."""
    made = {
        "ALDEBARAN_API_KEYS_FILE": ("API key", str(machine.api_key.key_file)),
        "ALDEBARAN_OPERATOR_KEYS_FILE": ("operator's key", str(machine.operator_key.key_file)),
        "ALDEBARAN_CONSOLE_FIRST_PASSWORD": (
            "console's user admin",
            f"password in {machine.home / CONSOLE_PASSWORD}",
        ),
    }
    return [told for setting, told in made.items() if setting not in machine.named]


def routing(machine: Machine) -> list[tuple[str, str]]:
    """Return where links of messages lead, and which routes were made, where there are any."""
    at = machine.settings
    door = [
        ("links to acknowledge", f"http://127.0.0.1:{at.port_callbacks_public}/acknowledge/...")
    ]
    made = [("routes", str(file))] if (file := routes_file(at)) else []
    return [*(door if at.callbacks else []), *made]
