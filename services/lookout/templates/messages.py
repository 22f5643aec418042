"""From an alert to what one recipient reads; a template that fails never keeps a message back."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from services.backbone.log import logger
from services.contracts.records import TEXT_LIMIT_CHARACTERS, Alert
from services.contracts.texts import behind, shortened
from services.lookout import metrics
from services.lookout.routing import Template
from services.lookout.templates.rendering import (
    NO_LINKS,
    SUBJECT_LIMIT_CHARACTERS,
    Links,
    Message,
    cut,
    one_line,
    render,
    several_lines,
    subject,
)
from services.lookout.templates.sandbox import Broken, rendered
from services.lookout.templates.short import short
from services.lookout.templates.view import view

PLAIN: Final = "plain"
SHORT: Final = "short"
SHIPPED: Final = (PLAIN, SHORT)
"""Templates that are there without being declared; a file may declare its own under these names."""
SHORT_CHANNELS: Final = frozenset({"sms", "push"})
"""Channels whose readers want one line; the others get the plain text."""

log = logger(__name__)


@dataclass(frozen=True, slots=True)
class Occasion:
    """What a message is about: the alert, the route that tells of it, the reader's links."""

    alert: Alert
    route: str
    links: Links = NO_LINKS


@dataclass(frozen=True, slots=True)
class Written:
    """A message, and the template that it should have been; `trouble` says why it is not."""

    message: Message
    template: str
    trouble: str | None = None


def template_for(channel: str, template: str | None) -> str:
    """Return the name of the template that an instruction means on this channel."""
    return template or (SHORT if channel in SHORT_CHANNELS else PLAIN)


def tell(
    templates: Mapping[str, Template], template: str | None, channel: str, occasion: Occasion
) -> Message:
    """Write a message; a template that fails is counted and logged."""
    written = write(templates, template, channel, occasion)
    if written.trouble is not None:
        metrics.TEMPLATE_FAILURES.labels(written.template).inc()
        log.error(
            "template_failed",
            template=written.template,
            reason=written.trouble,
            alert_id=occasion.alert.alert_id,
            route=occasion.route,
        )
    return written.message


def write(
    templates: Mapping[str, Template], template: str | None, channel: str, occasion: Occasion
) -> Written:
    """Return what is read on this channel; a shipped text if the template fails."""
    name = template_for(channel, template)
    if (declared := templates.get(name)) is None:
        if name in SHIPPED:
            return Written(_shipped(name, occasion), name)
        return _instead(name, "there is no such template any more", channel, occasion)
    try:
        return Written(message_of(declared, occasion), name)
    except Broken as error:
        return _instead(name, f"line {error.line}: {error.reason}", channel, occasion)


def message_of(template: Template, occasion: Occasion) -> Message:
    """Render a template.

    Raises:
        Broken: it fails, takes too much work, makes too much, or says nothing.
    """
    variables = {
        "alert": view(occasion.alert),
        "route": occasion.route,
        "links": occasion.links,
    }
    text = several_lines(rendered(template.text, variables))
    if not text:
        raise Broken(1, "the text is empty")
    if not template.subject:
        return Message(subject(occasion.alert), shortened(text, TEXT_LIMIT_CHARACTERS))
    head = one_line(rendered(template.subject, variables))
    return Message(cut(head, SUBJECT_LIMIT_CHARACTERS), shortened(text, TEXT_LIMIT_CHARACTERS))


def _shipped(name: str, occasion: Occasion) -> Message:
    make = short if name == SHORT else render
    return make(occasion.alert, occasion.links)


def _instead(name: str, trouble: str, channel: str, occasion: Occasion) -> Written:
    alert, links = occasion.alert, occasion.links
    if channel in SHORT_CHANNELS:
        return Written(short(alert, links, f"[template {name} failed]"), name, trouble)
    first = one_line(f"(template {name} failed, {trouble}; this is the plain text)")
    message = render(alert, links)
    return Written(replace(message, text=behind(first, message.text)), name, trouble)
