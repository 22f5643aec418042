"""What every program on this machine finds in its environment."""

import json
import sys
from collections.abc import Mapping
from typing import Final

from services.backbone.inherited import passed_on
from services.machine.installation.setup import PYTHON_PATH
from services.machine.plan.api_key import console_password, link_secret
from services.machine.plan.far_ends import Inbox, far_ends
from services.machine.plan.machine import Machine
from services.machine.plan.routes import routes_file
from services.machine.problems import MachineProblem
from services.machine.settings import MachineSettings

SIMULATORS_KEY: Final = "ALDEBARAN_SIMULATOR_API_KEY"
CONSOLES_KEY: Final = "ALDEBARAN_OPERATOR_KEY"
GATEWAYS_KEYS: Final = "ALDEBARAN_API_KEYS_FILE"
LOOKOUTS_KEYS: Final = "ALDEBARAN_OPERATOR_KEYS_FILE"
LOOKOUT: Final = "ALDEBARAN_LOOKOUT_URL"
NO_SIMULATORS_KEY: Final = (
    f"{GATEWAYS_KEYS} is named, so the gateway may not know this machine's key: name one"
    f" that is in that file by {SIMULATORS_KEY}, or start no simulator by"
    " ALDEBARAN_SIMULATOR_DIALS="
)
NO_CONSOLES_KEY: Final = (
    f"{LOOKOUTS_KEYS} is named, so the lookout may not know this machine's key: name"
    f" the console's, which must be in that file, by {CONSOLES_KEY}"
)


def environment(machine: Machine, inherited: Mapping[str, str]) -> dict[str, str]:
    """Return what every program finds in its environment.

    Keys are asked for on one machine too, as any page open in a browser may post to its ports; the
    user may name other keys, and other places for deliveries. Raises MachineProblem where keys are
    named without the one that a program of ours needs.
    """
    if lacking := lacking_keys(machine):
        raise MachineProblem("; ".join(lacking))
    return {
        **machine.unless_named(keys_and_pages(machine)),
        **far_ends(Inbox(machine.settings), machine.named),
        **machine.unless_named(routing(machine.settings)),
        **machine.unless_named(links(machine)),
        **passed_on(inherited),
        **own_keys(machine, inherited),
        "ALDEBARAN_HOME": str(machine.home),
        "ALDEBARAN_TOOLS": str(machine.tools),
        **machine.stores,
        "JAVA_HOME": str(machine.java.parents[1]),
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": PYTHON_PATH,
        "PYTHONUNBUFFERED": "1",
        "PYTHONUTF8": "1",  # so that declarations are read as UTF-8 whatever the terminal's is
    }


def lacking_keys(machine: Machine) -> list[str]:
    """Return what the user must name beside files of keys that are not this machine's."""
    named, dials = machine.named, machine.settings.simulator_dials
    asked = dials and "--api-key" not in dials
    lacking = []
    if GATEWAYS_KEYS in named and asked and SIMULATORS_KEY not in named:
        lacking.append(NO_SIMULATORS_KEY)
    if LOOKOUTS_KEYS in named and CONSOLES_KEY not in named:
        lacking.append(NO_CONSOLES_KEY)
    return lacking


def own_keys(machine: Machine, inherited: Mapping[str, str]) -> dict[str, str]:
    """Return this machine's keys for those in the user's environment that open nothing here.

    They were exported from a state that is gone, or before there was one.
    """
    elsewhere = LOOKOUT in machine.named and inherited.get(LOOKOUT) != lookout(machine)
    asked = [(SIMULATORS_KEY, machine.api_key)] if GATEWAYS_KEYS not in machine.named else []
    if LOOKOUTS_KEYS not in machine.named and not elsewhere:
        asked.append((CONSOLES_KEY, machine.operator_key))
    return {
        name: key.read()
        for name, key in asked
        if (sent := inherited.get(name)) is not None and not key.opens(sent)
    }


def lookout(machine: Machine) -> str:
    """Return where this machine's lookout is."""
    return f"http://127.0.0.1:{machine.settings.port_lookout}"


def keys_and_pages(machine: Machine) -> dict[str, str]:
    """Return this machine's keys and password, and where people and programs find its pages."""
    return {
        GATEWAYS_KEYS: str(machine.api_key.hashes_file),
        LOOKOUTS_KEYS: str(machine.operator_key.hashes_file),
        SIMULATORS_KEY: machine.api_key.read(),
        "ALDEBARAN_CONSOLE_PUBLIC_URL": f"http://127.0.0.1:{machine.settings.port_console}",
        "ALDEBARAN_CONSOLE_FIRST_PASSWORD": console_password(machine.home),
        LOOKOUT: lookout(machine),
        CONSOLES_KEY: machine.operator_key.read(),
    }


def routing(at: MachineSettings) -> dict[str, str]:
    """Return where routes are and what their variables mean."""
    hook = {"inbox_url": f"{Inbox(at).web}/hook"}
    told = {"ALDEBARAN_ROUTES_VARIABLES": json.dumps(hook)}
    if file := routes_file(at):
        told["ALDEBARAN_ROUTES_FILE"] = str(file)
    return told


def links(machine: Machine) -> dict[str, str]:
    """Return what signs links that acknowledge, and where they lead: to the door for callbacks."""
    if not machine.settings.callbacks:
        return {}
    door = f"http://127.0.0.1:{machine.settings.port_callbacks_public}"
    secret = {"machine": link_secret(machine.api_key.folder)}
    return {"ALDEBARAN_CALLBACKS_PUBLIC_URL": door, "ALDEBARAN_LINK_SECRETS": json.dumps(secret)}
