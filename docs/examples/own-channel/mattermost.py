"""Mattermost: posts each delivery to an incoming webhook; the delivery's id ends the text."""

from typing import Final

import aiohttp
import orjson
from pydantic import SecretStr

from services.backbone.clock import Clock
from services.backbone.settings import Settings, read_settings
from services.contracts.records import Severity
from services.deliverer.channel import Message, Promise, SendWindow, Traits
from services.deliverer.outcomes import Accepted, Outcome, Permanent, Refused, Unknown
from services.deliverer.posting import NoAddress, failed, open_web, post, retry_after_seconds

PROMISE: Final = Promise(
    recipient="a name from `mattermost_hooks`",
    our_id="at the end of the text",
    taken_when="answered 200",
    not_taken="nothing left yet (refused, DNS, TLS, connect timeout); 429, 503",
    permanent="other 4xx, redirects, an unknown name, no address",
    in_doubt="408, other 5xx, any other 2xx, timeout or reset after the first byte",
    evidence="none",
    without_faults="once accepted",
    after_doubt="at most one repeat, marked; or held",
    not_promised="that somebody reads it",
)


class MattermostSettings(Settings):
    """Where the messages go."""

    mattermost_hooks: dict[str, SecretStr]
    """Addresses of incoming webhooks by the name that routes use."""


class MattermostChannel:
    """Posts each delivery once, on a connection of its own."""

    def __init__(self, settings: MattermostSettings, clock: Clock) -> None:
        self._hooks = settings.mattermost_hooks
        self._clock = clock
        self._web = open_web(connect_timeout_seconds=5.0, ca_file=None)
        self.traits = Traits(
            name="mattermost",
            promise=PROMISE,
            dedupes_by_key=False,
            repeats=frozenset({Severity.CRITICAL}),
            breaker_per_recipient=False,
            send_timeout_seconds=15.0,
            names=frozenset(self._hooks),
        )

    async def send(self, message: Message, window: SendWindow) -> Outcome:
        """Post one delivery; the status decides."""
        recipient = message.delivery.recipient
        hook = self._hooks.get(recipient)
        if hook is None:
            return Permanent(f"mattermost_hooks has no hook named {recipient!r}")
        headers = {"Content-Type": "application/json"}
        try:
            response = await post(
                self._web, hook.get_secret_value(), window, body(message), headers
            )
        except NoAddress as error:
            return Permanent(f"the hook {recipient!r} is no address to POST to: {error}")
        except aiohttp.ClientError as error:
            return failed(error, window)
        response.close()
        wait = retry_after_seconds(response.headers.get("retry-after"), self._clock.now_ms())
        return answered(response.status, wait)

    def unusable(self) -> str | None:
        """Return None: each connection is new."""
        return None

    async def close(self) -> None:
        """Close connections."""
        await self._web.close()


def body(message: Message) -> bytes:
    """Return what is posted, with the mark if this is a possible repeat."""
    delivery = message.worded
    subject = " ".join(delivery.subject.split())
    return orjson.dumps({"text": f"**{subject}**\n{delivery.text}\n`{delivery.delivery_id}`"})


def answered(status: int, retry_after: float | None) -> Outcome:
    """Sort a status that Mattermost, or a proxy before it, has answered."""
    reason = f"Mattermost answered HTTP {status}"
    if status == 200:
        return Accepted()
    if status in (429, 503):
        return Refused(reason, retry_after, destination_down=status == 503)
    if 300 <= status < 500 and status != 408:
        return Permanent(reason)
    return Unknown(reason)


def open_channel(clock: Clock) -> MattermostChannel:
    """Read the settings and make the channel."""
    return MattermostChannel(read_settings(MattermostSettings), clock)
