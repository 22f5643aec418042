"""`silence`, `ack`, `test-send` and `keygen`: what operators do from a command line."""

import argparse
import json
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final, TextIO

from services.backbone.clock import Clock, SystemClock
from services.backbone.errors import Transient, Trouble
from services.backbone.lines import tell, tell_text
from services.backbone.settings import read_settings
from services.backbone.web.client import ApiClient, NotFound, in_path
from services.backbone.web.keys import ApiKey, entry, expiry, new_key, shown
from services.backbone.web.once import add_key_argument, ask_once
from services.backbone.web.silencing import add_silence_arguments, preview_lines, silence_body
from services.backbone.web.trials import add_trial_arguments, trial_body
from services.lookout.api.operators import SETTING
from services.lookout.commands.api_client import LookoutSettings, lookout_client

LOOK_SECONDS: Final = 0.5
REACHED: Final = frozenset({"SENT", "CONFIRMED"})
ENDED: Final = REACHED | {"FAILED", "CLOSED", "HELD"}
"""States in which a test has come to its end, or only a person moves it on."""

Commands = argparse._SubParsersAction  # noqa: SLF001 - argparse gives it no public name


def add_commands(commands: "Commands[argparse.ArgumentParser]") -> None:
    """Add the operators' commands."""
    silence = commands.add_parser("silence", help="silence alerts for a while")
    _add_silence(silence.add_subparsers(dest="action", required=True))
    ack = commands.add_parser("ack", help="take an alert in hand: nobody else is told of it")
    ack.add_argument("alert", help="the alert's id")
    ack.add_argument("--note", default="", help="kept with your name")
    ack.add_argument("--who", default="", help="default: the name of your key")
    test = commands.add_parser("test-send", help="send a test the whole way to somebody")
    add_trial_arguments(test)
    add_key_argument(test)
    test.add_argument("--heed-silences", action="store_true", help="let silences hold it back")
    test.add_argument("--wait", action="store_true", help="show what becomes of it")
    test.add_argument("--wait-seconds", type=float, default=120.0)
    key = commands.add_parser("keygen", help="make an operator's key, show it once")
    key.add_argument("name", help="whose key it is, for example ann")
    key.add_argument("--days", type=int, help="days until it expires (default: never)")


def _add_silence(actions: "Commands[argparse.ArgumentParser]") -> None:
    for name, text in (("add", "silence alerts"), ("preview", "show what that would catch")):
        add = actions.add_parser(name, help=text)
        add_silence_arguments(add, needs_reason=name == "add")
        if name == "add":
            add_key_argument(add)
    listing = actions.add_parser("list", help="list silences, newest first")
    listing.add_argument("--standing", action="store_true", help="only those not over yet")
    actions.add_parser("end", help="end a silence now").add_argument("silence")


NAMES: Final = ("silence", "ack", "test-send", "keygen")


def answer(chosen: argparse.Namespace, clock: Clock | None = None) -> int:
    """Carry out one command; return the exit code."""
    clock = clock or SystemClock()
    try:
        if chosen.command == "keygen":
            return keygen(chosen, clock, sys.stdout)
        client = lookout_client(read_settings(LookoutSettings))
        try:
            return act(chosen, client, clock, sys.stdout)
        finally:
            client.close()
    except Trouble as error:
        tell_text(sys.stderr, str(error))
        return 1


def act(chosen: argparse.Namespace, client: ApiClient, clock: Clock, out: TextIO) -> int:
    """Carry out a command of the API.

    Raises:
        Trouble: the lookout does not do it, or does not answer.
    """
    if chosen.command == "test-send":
        return _test_send(chosen, client, clock, out)
    if chosen.command == "ack":
        body = {"note": chosen.note, "person": chosen.who}
        told = client.ask("POST", f"/alerts/{in_path(chosen.alert)}/acknowledge", body)
        if told.get("noted"):  # a lookout of before does not say
            tell(out, "noted")
        for each in told["acknowledgements"]:
            tell(out, f"{each['person']} at {each['at']}")
        return 0
    return _SILENCE[chosen.action](chosen, client, out)


def keygen(chosen: argparse.Namespace, clock: Clock, out: TextIO) -> int:
    """Write a new operator's key, and its entry for the file of keys."""
    key = new_key()
    lines = entry(ApiKey, chosen.name, key, expires=expiry(clock, chosen.days))
    out.write(shown(key, lines, SETTING))
    return 0


def _add(chosen: argparse.Namespace, client: ApiClient, out: TextIO) -> int:
    _line(ask_once(client, "/silences", silence_body(chosen), chosen.key), out)
    return 0


def _preview(chosen: argparse.Namespace, client: ApiClient, out: TextIO) -> int:
    for line in preview_lines(client.ask("POST", "/silences/preview", silence_body(chosen))):
        tell(out, line)
    return 0


def _list(chosen: argparse.Namespace, client: ApiClient, out: TextIO) -> int:
    query = {"standing": "true"} if chosen.standing else None
    for each in client.ask("GET", "/silences", query=query)["silences"]:
        _line(each, out)
    return 0


def _end(chosen: argparse.Namespace, client: ApiClient, out: TextIO) -> int:
    _line(client.ask("DELETE", f"/silences/{in_path(chosen.silence)}"), out)
    return 0


_SILENCE: Final[Mapping[str, Callable[[argparse.Namespace, ApiClient, TextIO], int]]] = {
    "add": _add,
    "preview": _preview,
    "list": _list,
    "end": _end,
}


def _line(silence: dict[str, Any], out: TextIO) -> None:
    ends = silence["ended_at"] or silence["ends_at"]
    match = json.dumps(silence["match"])
    said = f"{silence['author']}: {silence['reason']}"
    tell(out, f"{silence['silence_id']} {silence['starts_at']} to {ends} {match} {said}")


def _test_send(chosen: argparse.Namespace, client: ApiClient, clock: Clock, out: TextIO) -> int:
    body = trial_body(chosen) | {"heed_silences": chosen.heed_silences}
    told = ask_once(client, "/test-sends", body, chosen.key)
    tell(out, f"alert {told['alert_id']}")
    if not chosen.wait:
        return 0
    return follow(told, client, clock, out, chosen.wait_seconds)


def follow(
    told: dict[str, Any], client: ApiClient, clock: Clock, out: TextIO, wait_seconds: float
) -> int:
    """Show each change of a test's deliveries until all have ended; 0 if all reached somebody.

    The test is sent by then, so who does not answer is asked again: he may be back in a moment.
    """
    until = clock.monotonic_seconds() + wait_seconds
    states: dict[str, str] = {}
    while True:
        for each in _recipients(client, told["why"]):
            if states.get(each["delivery_id"]) != each["state"]:
                states[each["delivery_id"]] = each["state"]
                line = f"{each['channel']} {each['recipient']}: {each['state']}"
                tell(out, f"{line}  {each['sentence']}")
        if states.keys() >= set(told["delivery_ids"]) and ENDED.issuperset(states.values()):
            return 0 if REACHED.issuperset(states.values()) else 1
        if clock.monotonic_seconds() >= until:
            tell(out, f"sent; not ended within {wait_seconds:g} s; look again: GET {told['why']}")
            return 1
        clock.wait(threading.Event(), LOOK_SECONDS)


def _recipients(client: ApiClient, path: str) -> list[dict[str, Any]]:
    try:
        found: list[dict[str, Any]] = client.ask("GET", path)["recipients"]
    except (NotFound, Transient):
        return []
    return found
