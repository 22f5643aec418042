"""The Slack channel: posts each delivery once, and searches the history after a doubt."""

import asyncio
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import aiohttp
import orjson

from services.backbone.clock import Clock
from services.contracts import recipients
from services.contracts.records import Severity
from services.deliverer.channel import (
    Absent,
    Doubt,
    Finding,
    Message,
    Promise,
    SendWindow,
    Taken,
    Traits,
    Unclear,
)
from services.deliverer.channels.slack.answers import answered
from services.deliverer.channels.slack.message import body, next_cursor, timestamp_of
from services.deliverer.channels.slack.pace import Pace
from services.deliverer.channels.slack.settings import SlackSettings
from services.deliverer.outcomes import Outcome, Permanent, Refused
from services.deliverer.posting import (
    NoAddress,
    answer_object,
    ask,
    failed,
    open_web,
    post,
    retry_after_seconds,
    trouble_of,
)

PAGES_LIMIT: Final = 10
PAGE_SIZE: Final = 200
PAGE_LIMIT_BYTES: Final = 8 * 1024 * 1024
_SKEW_MS: Final = 300_000
"""The history is read from so long before the claim, since clocks differ."""
_PATIENCE_SHARE: Final = 0.6
"""Of the window, that a send may wait for its turn."""
_TOO_MANY: Final = "more messages for this conversation than Slack takes at once"
PROMISE: Final = Promise(
    recipient="a conversation id (`C…`, `G…`, `D…`), or a name from `slack_channels`",
    our_id="at the end of the text, and in the message's metadata",
    taken_when="answered `ok: true`",
    not_taken="nothing left yet (DNS, refused, TLS, connect timeout); 429 and other limits; "
    "refused credentials",
    permanent="any other `ok: false`, as channel_not_found, is_archived, not_in_channel; 4xx",
    in_doubt="5xx, fatal_error, internal_error, timeout or reset after the first byte",
    evidence="`conversations.history`: the message is there; or it is not, so long after the lease "
    "as `slack_absence_seconds` says",
    without_faults="once accepted",
    after_doubt="once, by the history; where that cannot be read: held, or one repeat, marked",
    not_promised="that somebody reads it; a message that people delete before it is looked up "
    "counts as not taken",
)


class SlackChannel:
    """Posts as a bot, on a connection per request."""

    def __init__(self, settings: SlackSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._pace = Pace(settings.slack_seconds_between)
        self._url = settings.slack_url.rstrip("/")
        self._web = open_web(
            connect_timeout_seconds=settings.slack_connect_timeout_seconds,
            ca_file=settings.slack_ca_file,
            headers={"Authorization": f"Bearer {settings.slack_bot_token.get_secret_value()}"},
        )
        self.traits = Traits(
            name="slack",
            promise=PROMISE,
            dedupes_by_key=False,
            repeats=frozenset({Severity.CRITICAL}),
            breaker_per_recipient=True,
            send_timeout_seconds=15.0,
            look_up_after_seconds=tuple(sorted(settings.slack_look_up_after_seconds)),
            names=frozenset(settings.slack_channels),
        )

    async def send(self, message: Message, window: SendWindow) -> Outcome:
        """Post one message when it is its turn in the conversation."""
        recipient = message.delivery.recipient
        conversation = self._settings.conversation(recipient)
        if conversation is None:
            complaint = recipients.complaint("slack", recipient)
            return Permanent(complaint or f"slack_channels has no channel named {recipient!r}")
        now = self._clock.monotonic_seconds()
        patience = _PATIENCE_SHARE * window.remaining_seconds()
        given, wait = self._pace.turn(conversation, now, patience, message.attempt > 1)
        if not given:
            return Refused(_TOO_MANY, wait, own_pace=True)
        if wait:
            await asyncio.sleep(wait)
        return await self._post(body(message, conversation), window)

    async def look_up(self, doubt: Doubt) -> Finding:
        """Search the conversation's history since the try began."""
        conversation = self._settings.conversation(doubt.delivery.recipient)
        if conversation is None:
            return Unclear("the recipient is no longer in slack_channels")
        begun_ms = self._clock.now_ms()
        try:
            async with asyncio.timeout(self._settings.slack_look_up_timeout_seconds):
                found = await self._search(conversation, doubt)
        except (aiohttp.ClientError, TimeoutError) as error:
            return Unclear(f"Slack's history was not to be had: {trouble_of(error)}")
        return found or self._absence(doubt, begun_ms)

    def unusable(self) -> str | None:
        """Return None: each connection is new."""
        return None

    async def close(self) -> None:
        """Close connections."""
        await self._web.close()

    async def _post(self, content: Mapping[str, Any], window: SendWindow) -> Outcome:
        url, headers = f"{self._url}/chat.postMessage", {"Content-Type": "application/json"}
        try:
            response = await post(self._web, url, window, orjson.dumps(content), headers)
        except NoAddress as error:
            return Refused(f"slack_url is no address: {error}", destination_down=True)
        except aiohttp.ClientError as error:
            return failed(error, window)
        wait = retry_after_seconds(response.headers.get("retry-after"), self._clock.now_ms())
        if response.status != HTTPStatus.OK:
            window.decide(answered(response.status, {}, wait))
        return answered(response.status, await answer_object(response), wait)

    async def _search(self, conversation: str, doubt: Doubt) -> Finding | None:
        """Read the history page by page; None if it was read whole and has no such message."""
        since = (doubt.claimed_at_ms - _SKEW_MS) / 1000
        asked = {"channel": conversation, "oldest": f"{since:.6f}", "limit": str(PAGE_SIZE)}
        asked["include_all_metadata"] = "true"
        for _ in range(PAGES_LIMIT):
            page = await self._history(asked)
            messages = page.get("messages")
            if page.get("ok") is not True or not isinstance(messages, list):
                return Unclear(f"Slack's history cannot be read: {page.get('error', 'no answer')}")
            found = timestamp_of(messages, doubt.delivery.delivery_id)
            if found is not None:
                return Taken(f"{conversation}/{found}", "in the conversation's history")
            if not page.get("has_more"):
                return None
            asked["cursor"] = next_cursor(page)
        return Unclear(f"the history has more than {PAGES_LIMIT} pages since then")

    async def _history(self, asked: Mapping[str, str]) -> dict[str, Any]:
        url = f"{self._url}/conversations.history"
        response = await ask(self._web, url, asked)
        return await answer_object(response, PAGE_LIMIT_BYTES)

    def _absence(self, doubt: Doubt, begun_ms: int) -> Finding:
        seconds = self._settings.slack_absence_seconds
        if seconds is None or begun_ms < doubt.lease_over_at_ms + seconds * 1000:
            return Unclear("not in the conversation's history yet")
        return Absent(f"not in the conversation's history {seconds:.0f} s after the lease")
