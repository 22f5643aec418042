"""Silences and tests, by way of the lookout, which knows the routes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from services.backbone.ledger.operators.silences import SilenceRow
from services.backbone.web.client import ApiClient
from services.backbone.web.problems import Problem
from services.console.deeds.once import press_key
from services.console.lookout import read
from services.console.people.audit import Audit, Deed
from services.console.people.roles import Person
from services.contracts.ids import digest
from services.contracts.lookout import PreviewPage
from services.contracts.records import LABELS_LIMIT, SHORT_LIMIT_CHARACTERS

_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_SPECIAL: Final = re.compile(r"[*?[]")

Told = dict[str, Any]
"""What the lookout answers, as its API describes it."""


@dataclass(frozen=True)
class Quiet:
    """A silence as the forms say it; it begins now where nothing else is said."""

    match: dict[str, Any]
    lasts: str
    reason: str
    starts_at: datetime | None = None

    def body(self, person: Person) -> dict[str, Any]:
        """Return what the lookout is asked."""
        body = {
            "match": self.match,
            "lasts": self.lasts,
            "reason": self.reason,
            "author": person.name,
        }
        return body | ({"starts_at": self.starts_at.isoformat()} if self.starts_at else {})


@dataclass(frozen=True)
class _Made:
    """What tells that a silence was made, whatever else a lookout of another version answers."""

    silence_id: str


@dataclass(frozen=True)
class Deeds:
    """Does things at the lookout and notes them."""

    lookout: ApiClient
    audit: Audit

    def preview(self, person: Person, quiet: Quiet) -> PreviewPage:
        """Return what a silence would catch; nothing is made."""
        told = self.lookout.ask("POST", "/silences/preview", quiet.body(person))
        return read(PreviewPage, told)

    def silence(self, person: Person, quiet: Quiet, key: str | None) -> SilenceRow:
        """Make a silence; the same press again is the same silence."""
        press = press_key(person, key)
        told = self.lookout.ask("POST", "/silences", quiet.body(person), key=press)
        subject = f"silence {read(_Made, told).silence_id}"
        detail = f"{quiet.match} for {quiet.lasts}: {quiet.reason}"
        self.audit.note(person, Deed("silence", subject, detail, key=press))
        return read(SilenceRow, told)

    def end(self, person: Person, silence_id: str) -> SilenceRow:
        """End a silence now; where the answer was lost, the same again is done and noted once."""
        who = {"person": person.name}
        ended = self.lookout.ask("DELETE", f"/silences/{silence_id}", query=who)
        key = digest("end silence", person.name, silence_id)
        self.audit.note(person, Deed("end silence", f"silence {silence_id}", key=key))
        return read(SilenceRow, ended)

    def test(self, person: Person, body: dict[str, Any], key: str | None) -> Told:
        """Send a test the whole way; the same press again is the same test."""
        press = press_key(person, key)
        sent: Told = self.lookout.ask("POST", "/test-sends", body, key=press)
        whom = ", ".join(f"{each['channel']} {each['recipient']}" for each in sent["told"])
        # The lookout takes other recipients or words under the same key for another test.
        key = digest("test-send", press, sent["alert_id"]) if press else None
        self.audit.note(person, Deed("test-send", f"alert {sent['alert_id']}", whom, key=key))
        return sent


def match_of(fields: dict[str, str]) -> dict[str, Any]:
    """Return a silence's match from a form: watch, severity, and lines NAME=VALUE as labels.

    Raises:
        Problem: 422, a line has another form, a label stands twice, or there are too many.
    """
    match: dict[str, Any] = {}
    if fields.get("watch", "").strip():
        match["watch"] = fields["watch"].strip()
    if fields.get("severity", "").strip():
        match["severity"] = fields["severity"].strip()
    labels = _labels(fields.get("labels", ""))
    return match | ({"labels": labels} if labels else {})


def _labels(text: str) -> dict[str, str]:
    labels: dict[str, str] = {}
    for line in filter(str.strip, _LINE_END.split(text)):
        name, equals, value = (each.strip() for each in line.partition("="))
        if not (name and equals):
            raise Problem(422, "bad_silence", f"write NAME=VALUE, not {line.strip()[:64]}")
        if name in labels:
            raise Problem(422, "bad_silence", f"label {name[:64]} stands twice")
        labels[name] = value
    if len(labels) > LABELS_LIMIT:
        said = f"{len(labels)} labels are too many; an alert has at most {LABELS_LIMIT}"
        raise Problem(422, "bad_silence", said)
    return labels


@dataclass(frozen=True, slots=True)
class Written:
    """An alert's labels as lines of the form, and the names of those that no line can say."""

    lines: str
    left_out: tuple[str, ...]


def written(labels: Mapping[str, str | None]) -> Written:
    """Return the lines of a silence that fits these labels and no other values."""
    patterns = {name: _literal(value) for name, value in labels.items() if value is not None}
    said = {name: each for name, each in patterns.items() if _can_be_said(name, each)}
    left_out = tuple(name for name in patterns if name not in said)
    return Written("\n".join(f"{name}={each}" for name, each in said.items()), left_out)


def _literal(value: str) -> str:
    """Return the pattern that this text fits, and nothing else."""
    return _SPECIAL.sub(r"[\g<0>]", value)


def _can_be_said(name: str, pattern: str) -> bool:
    if "=" in name or _LINE_END.search(name + pattern):
        return False
    is_whole = all(each and each == each.strip() for each in (name, pattern))
    return is_whole and len(pattern) <= SHORT_LIMIT_CHARACTERS
