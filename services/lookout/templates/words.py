"""What one recipient reads: the words of the routes, and a link that acknowledges the alert."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from services.backbone.web.links import Links as Signed
from services.backbone.web.links import acknowledge_url
from services.contracts.ids import delivery_id
from services.contracts.records import TEXT_LIMIT_CHARACTERS, Alert
from services.contracts.texts import behind, shortened
from services.lookout.routing import Instruction, Routes
from services.lookout.templates.messages import SHORT_CHANNELS, Occasion, tell
from services.lookout.templates.rendering import Links, Message, cut, one_line
from services.lookout.trials import is_trial, marked

OPENING_LIMIT_CHARACTERS: Final = 600

Write = Callable[[Instruction, int], Message]
"""Writes to one recipient; the number is the message's repetition."""


@dataclass(frozen=True)
class Words:
    """Writes messages; without secret or public address there are no links to acknowledge.

    `console_url` is where people reach the console; empty: no links to its page of the alert.
    """

    links: Signed | None = None
    public_url: str = ""
    console_url: str = ""

    def of(self, alert: Alert, routes: Routes, now_ms: int) -> Write:
        """Return what writes about an alert."""

        page = f"{self.console_url.rstrip('/')}/alerts/{alert.alert_id}" if self.console_url else ""

        # Many recipients often read the same words.
        @cache
        def written(template: str | None, channel: str, route: str, link: str) -> Message:
            occasion = Occasion(alert, route, Links(link, page))
            made = tell(routes.templates, template, channel, occasion)
            return replace(made, subject=marked(made.subject)) if is_trial(alert) else made

        def write(told: Instruction, repetition: int) -> Message:
            link = self._link(alert, told, repetition, now_ms)
            return written(told.template, told.target.channel, told.route, link)

        return write

    def _link(self, alert: Alert, told: Instruction, repetition: int, now_ms: int) -> str:
        if self.links is None or not self.public_url:
            return ""
        target = told.target
        named = delivery_id(alert.alert_id, target.channel, target.recipient, repetition)
        return acknowledge_url(self.public_url, self.links.token(named, now_ms))


NO_LINKS: Final = Words()
"""Writes messages without links."""


def opened(message: Message, opening: str, channel: str) -> Message:
    """Put before the text why somebody reads this now; where only one line is read, one word."""
    first = cut(one_line(opening), OPENING_LIMIT_CHARACTERS)
    if channel in SHORT_CHANNELS:
        said = f"{first.split()[0].rstrip(':,')}: {message.text}"
        return replace(message, text=shortened(said, TEXT_LIMIT_CHARACTERS))
    return replace(message, text=behind(first, message.text))
