"""Silences and tests, by way of the lookout, which knows the routes."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from services.backbone.web.client import ApiClient
from services.backbone.web.problems import Problem
from services.console.deeds.once import press_key
from services.console.people.audit import Audit, Deed
from services.console.people.roles import Person

MATCH_LIMIT: Final = 10

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
class Deeds:
    """Does things at the lookout and notes them."""

    lookout: ApiClient
    audit: Audit

    def preview(self, person: Person, quiet: Quiet) -> Told:
        """Return what a silence would catch; nothing is made."""
        told: Told = self.lookout.ask("POST", "/silences/preview", quiet.body(person))
        return told

    def silence(self, person: Person, quiet: Quiet, key: str | None) -> Told:
        """Make a silence; the same press again is the same silence."""
        press = press_key(person, key)
        made: Told = self.lookout.ask("POST", "/silences", quiet.body(person), key=press)
        detail = f"{quiet.match} for {quiet.lasts}: {quiet.reason}"
        self.audit.note(person, Deed("silence", f"silence {made['silence_id']}", detail, key=press))
        return made

    def end(self, person: Person, silence_id: str) -> Told:
        """End a silence now."""
        ended: Told = self.lookout.ask("DELETE", f"/silences/{silence_id}")
        self.audit.note(person, Deed("end silence", f"silence {silence_id}"))
        return ended

    def test(self, person: Person, body: dict[str, Any], key: str | None) -> Told:
        """Send a test the whole way; the same press again is the same test."""
        press = press_key(person, key)
        sent: Told = self.lookout.ask("POST", "/test-sends", body, key=press)
        whom = ", ".join(f"{each['channel']} {each['recipient']}" for each in sent["told"])
        self.audit.note(person, Deed("test-send", f"alert {sent['alert_id']}", whom, key=press))
        return sent


def match_of(fields: dict[str, str]) -> dict[str, Any]:
    """Return a silence's match from a form: watch, severity, and lines NAME=VALUE as labels.

    Raises:
        Problem: 422, a line has another form.
    """
    match: dict[str, Any] = {}
    if fields.get("watch", "").strip():
        match["watch"] = fields["watch"].strip()
    if fields.get("severity", "").strip():
        match["severity"] = fields["severity"].strip()
    labels = {}
    for line in fields.get("labels", "").splitlines()[:MATCH_LIMIT]:
        if not line.strip():
            continue
        name, equals, value = line.partition("=")
        if not equals:
            raise Problem(422, "bad_silence", f"write NAME=VALUE, not {line.strip()[:64]}")
        labels[name.strip()] = value.strip()
    return match | ({"labels": labels} if labels else {})
