"""PagerDuty: triggers an alert by the Events API v2; its dedup_key is the delivery id.

PagerDuty joins triggers of one key to the incident that is open, so after a doubt the same is sent
again with the same key. PagerDuty's own Python client is not used: it repeats a 429 without end
and sleeps on a thread that no send window can stop.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

import aiohttp
from pydantic import Field

from services.backbone.certificates import CaFile
from services.backbone.clock import Clock
from services.backbone.settings import OneLine, Seconds, Settings, read_settings
from services.contracts import recipients
from services.contracts.records import Delivery, Severity
from services.contracts.web import ServerAddress
from services.deliverer.channel import Message, Promise, SendWindow, Traits
from services.deliverer.outcomes import Accepted, Outcome, Permanent, Refused, Unknown
from services.deliverer.posting import (
    REASON_LIMIT,
    NoAddress,
    answer_object,
    failed,
    open_web,
    post,
    retry_after_seconds,
)

EVENT_LIMIT_BYTES: Final = 500_000
"""PagerDuty takes 512 KB."""
SUMMARY_LIMIT_CHARACTERS: Final = 1024
_SEVERITIES: Final[Mapping[Severity, str]] = {
    Severity.CRITICAL: "critical",
    Severity.WARNING: "warning",
    Severity.INFO: "info",
}
PROMISE: Final = Promise(
    recipient="the name of a routing key in `pagerduty_routing_keys`",
    our_id="`dedup_key`, and `delivery_id` in the details",
    taken_when="answered 202",
    not_taken="nothing left yet (DNS, refused, TLS, connect timeout); 429, 503",
    permanent="400 with its errors, other 4xx, an unknown name",
    in_doubt="408, other 5xx, any other 2xx (a proxy's page), "
    "timeout or reset after the first byte",
    evidence="none needed: the same key again joins the open incident",
    without_faults="once",
    after_doubt="one incident, as long as it is open",
    not_promised="one incident where it was resolved before the same key came again; "
    "that somebody is on call",
)


class PagerDutySettings(Settings):
    """Which integrations, and where."""

    pagerduty_routing_keys: dict[str, OneLine] = Field(default_factory=dict)
    """Integration keys (Events API v2) by the name that routes use."""
    pagerduty_url: ServerAddress = "https://events.pagerduty.com"
    """Accounts in the EU use https://events.eu.pagerduty.com."""
    pagerduty_link: str | None = None
    """An address of your own for each alert; `{alert_id}` and `{delivery_id}` are filled in."""
    pagerduty_connect_timeout_seconds: Seconds = 5.0
    """How long a connection may take to come about."""
    pagerduty_ca_file: CaFile | None = None
    """Certificates (PEM) that the server's is checked by, instead of the system's."""


class PagerDutyChannel:
    """Triggers each delivery in one request, on a connection of its own."""

    def __init__(self, settings: PagerDutySettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._url = settings.pagerduty_url.rstrip("/") + "/v2/enqueue"
        self._web = open_web(
            connect_timeout_seconds=settings.pagerduty_connect_timeout_seconds,
            ca_file=settings.pagerduty_ca_file,
            headers={"Content-Type": "application/json"},
        )
        self.traits = Traits(
            name="pagerduty",
            promise=PROMISE,
            dedupes_by_key=True,
            breaker_per_recipient=True,
            send_timeout_seconds=15.0,
            names=frozenset(settings.pagerduty_routing_keys),
        )

    async def send(self, message: Message, window: SendWindow) -> Outcome:
        """Trigger once."""
        name = message.delivery.recipient
        if complaint := recipients.complaint("pagerduty", name):
            return Permanent(complaint)
        key = self._settings.pagerduty_routing_keys.get(name)
        if key is None:
            return Permanent(f"no routing key is named {name!r}: add it to pagerduty_routing_keys")
        content = event(message, key.get_secret_value(), self._settings.pagerduty_link)
        try:
            response = await post(self._web, self._url, window, content)
        except NoAddress as error:
            return Refused(f"pagerduty_url is no address: {error}", destination_down=True)
        except aiohttp.ClientError as error:
            return failed(error, window)
        wait = retry_after_seconds(response.headers.get("retry-after"), self._clock.now_ms())
        window.decide(answered(response.status, {}, wait))  # the body has the words alone
        return answered(response.status, await answer_object(response), wait)

    def unusable(self) -> str | None:
        """Return None: each connection is new."""
        return None

    async def close(self) -> None:
        """Close connections."""
        await self._web.close()


def event(message: Message, routing_key: str, link: str | None) -> bytes:
    """Return the event as JSON, at most `EVENT_LIMIT_BYTES`; the same bytes at every try."""
    whole = _event(message.worded, routing_key, link)
    content = json.dumps(whole, ensure_ascii=False).encode()
    if len(content) <= EVENT_LIMIT_BYTES:
        return content
    details = whole["payload"]["custom_details"]
    details |= {"values": "left out: too large for PagerDuty", "labels": {}, "key": {}}
    return json.dumps(whole, ensure_ascii=False).encode()


def _event(delivery: Delivery, routing_key: str, link: str | None) -> dict[str, Any]:
    alert = delivery.alert
    found: dict[str, Any] = {
        "routing_key": routing_key,
        "event_action": "trigger",
        "dedup_key": delivery.delivery_id,
        "client": "Aldebaran",
        "payload": {
            "summary": delivery.subject[:SUMMARY_LIMIT_CHARACTERS] or alert.watch,
            "source": alert.watch,
            "severity": _SEVERITIES[alert.severity],
            "timestamp": datetime.fromtimestamp(alert.detected_at_ms / 1000, UTC).isoformat(),
            "class": alert.watch,
            "custom_details": {
                "text": delivery.text,
                "key": alert.key,
                "values": alert.values,
                "labels": alert.labels,
                "alert_id": alert.alert_id,
                "delivery_id": delivery.delivery_id,
            },
        },
    }
    if link:
        href = link.replace("{alert_id}", alert.alert_id)
        href = href.replace("{delivery_id}", delivery.delivery_id)
        found["links"] = [{"href": href, "text": "this alert"}]
        found["client_url"] = href
    return found


def answered(status: int, said: Mapping[str, Any], retry_after: float | None) -> Outcome:
    """Sort PagerDuty's answer; `said` is its JSON body, or empty."""
    reason = f"PagerDuty answered {status}{_told(said)}"[:REASON_LIMIT]
    if status == 202:
        return Accepted(str(said.get("dedup_key", ""))[:REASON_LIMIT])
    if status in (429, 503):
        return Refused(reason, retry_after, destination_down=status == 503)
    if status >= 500 or status == 408 or status < 300:
        return Unknown(reason)
    return Permanent(reason)


def _told(said: Mapping[str, Any]) -> str:
    errors = said.get("errors")
    parts = [str(said.get("message", "")), *map(str, errors if isinstance(errors, list) else [])]
    told = "; ".join(part for part in parts if part)
    return f": {told}" if told else ""


def open_channel(clock: Clock) -> PagerDutyChannel:
    """Read the settings and make the channel."""
    return PagerDutyChannel(read_settings(PagerDutySettings), clock)
