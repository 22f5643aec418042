"""Asking for a rehearsal: a watch tried over recent events; nobody is told what it finds."""

import secrets
from dataclasses import dataclass
from typing import Final

from services.backbone.errors import Refused
from services.backbone.ledger.database import Connection, Pool
from services.backbone.ledger.operators.rehearsals import ask_on
from services.backbone.web.problems import Problem
from services.console.deeds.once import do_once, press_key
from services.console.people.audit import Deed
from services.console.people.roles import Person
from services.console.watches import WatchShelf
from services.contracts.declarations import FILE_LIMIT_BYTES, BadDeclaration
from services.contracts.durations import seconds
from services.contracts.ids import digest
from services.contracts.rehearsals import SPAN_LIMIT_SECONDS, Rehearsal
from services.contracts.watches import WatchDeclaration, parse_watch

TEXT: Final = "watch.yaml"
"""The name by which errors speak of what was sent."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A watch that somebody wants to try: its YAML, its table of rules, how far back."""

    watch: str
    rules: str = ""
    since: str = "1h"


def ask(pool: Pool, shelf: WatchShelf, person: Person, draft: Draft, key: str | None) -> str:
    """Ask for a rehearsal; return its id. The same press again is the same rehearsal.

    Raises:
        Problem: 422, the watch's form is wrong, with its line, or the rules are too many; 409, too
            many wait.
        Transient: Postgres is away.
    """
    declared = _declared(draft.watch)
    rehearsal = Rehearsal(
        new=draft.watch,
        live=shelf.text(declared.watch),
        rules=_rules(draft.rules),
        span_seconds=_span(draft.since),
    )
    press = press_key(person, key)
    made = digest("rehearsal", press) if press else secrets.token_hex(16)

    def add(connection: Connection) -> None:
        ask_on(connection, made, person.name, declared.watch, rehearsal)

    deed = Deed("rehearse", f"watch {declared.watch}", f"rehearsal {made}", key=press)
    try:
        do_once(pool, person, deed, add)
    except Refused as error:
        raise Problem(409, "too_many_wait", str(error)) from None
    return made


def _declared(text: str) -> WatchDeclaration:
    try:
        return parse_watch(text, TEXT)
    except BadDeclaration as error:
        raise Problem(422, "bad_watch", str(error)) from None


def _rules(text: str) -> str | None:
    if len(text) > FILE_LIMIT_BYTES:
        why = f"rules: over {FILE_LIMIT_BYTES} characters; make it live first"
        raise Problem(422, "bad_rules", why)
    return text or None


def _span(text: str) -> float:
    try:
        span = seconds(text)
    except ValueError as error:
        raise Problem(422, "bad_span", f"since: {error}") from None
    if span > SPAN_LIMIT_SECONDS:
        raise Problem(422, "bad_span", f"since: at most {SPAN_LIMIT_SECONDS / 86_400:g} days")
    return span
