"""The push channel: one request per delivery on a connection that all of them use."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import httpx2

from services.backbone.clock import Clock
from services.backbone.ledger.deliveries.dropped import DroppedAddresses
from services.contracts import recipients
from services.deliverer.channel import Message, Promise, SendWindow, Traits
from services.deliverer.channels.push.answers import (
    answered,
    asks_for_renewal,
    reason_of,
    unanswered,
)
from services.deliverer.channels.push.credential import Credential
from services.deliverer.channels.push.devices import Device, DroppedTokens, dropped
from services.deliverer.channels.push.lines import Line, Lines
from services.deliverer.channels.push.notification import headers, payload
from services.deliverer.channels.push.settings import PushSettings
from services.deliverer.channels.push.stream import Stream
from services.deliverer.outcomes import Outcome, Permanent, Refused, Unknown
from services.deliverer.posting import (
    ANSWER_LIMIT_BYTES,
    object_in,
    retry_after_seconds,
    whole,
)

_NOTHING: Final[Mapping[str, Any]] = {}
PROMISE: Final = Promise(
    recipient="a device token in hex, or a name from `push_devices`",
    our_id="`apns-collapse-id`, `apns-id` (as a UUID), `delivery_id` in the payload",
    taken_when="APNs answers 200",
    not_taken="nothing left yet (DNS, refused, TLS, connect timeout); 429, 500, 503; HTTP/2 tells "
    "that the stream was never looked at; 403, our credentials",
    permanent="400, 404, 405, 413; 410, after which the token is dropped",
    in_doubt="timeout or reset after the first byte, any other answer",
    evidence="none for us: the same apns-id and collapse id go again",
    without_faults="once accepted by Apple",
    after_doubt="at least once to Apple, one item on the screen",
    not_promised="that it is shown or seen; Apple keeps only the newest one for a phone that is "
    "offline. Ask for an acknowledgement, with a fallback",
)


class PushChannel:
    """Pushes each delivery once."""

    def __init__(self, settings: PushSettings, book: DroppedAddresses, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        key = settings.signing_key()
        self._credential = Credential(key, settings.push_key_id, settings.push_team_id)
        self._tokens = DroppedTokens(book)
        self._lines = Lines(settings)
        self.traits = Traits(
            name="push",
            promise=PROMISE,
            dedupes_by_key=True,
            breaker_per_recipient=True,
            send_timeout_seconds=15.0,
            names=frozenset(settings.push_devices),
        )

    async def send(self, message: Message, window: SendWindow) -> Outcome:
        """Push one delivery."""
        recipient = message.delivery.recipient
        found = self._settings.device(recipient)
        if found is None:
            complaint = recipients.complaint("push", recipient)
            return Permanent(complaint or f"push_devices has no device named {recipient!r}")
        device = Device(recipient, *found)
        if reason := await self._tokens.reason(device):
            return Permanent(reason)
        async with self._lines.line() as line:
            try:
                outcome = await self._push(message, device, line, window)
            except asyncio.CancelledError:
                self._lines.retire(line)
                raise
            window.decide(outcome)  # to close a line takes time
            if isinstance(outcome, Unknown) or _leaving(outcome):
                self._lines.retire(line)
            return outcome

    def unusable(self) -> str | None:
        """Say whether a write behind the sends has met a bug; a doubtful connection is replaced."""
        return self._tokens.unusable()

    async def close(self) -> None:
        """Close the connection."""
        await self._lines.close()
        await self._tokens.close()

    async def _push(
        self, message: Message, device: Device, line: Line, window: SendWindow
    ) -> Outcome:
        token = self._credential.at(self._clock.now_ms())
        stream = Stream(window)
        try:
            request = line.client.build_request(
                "POST",
                f"/3/device/{device.token}",
                content=payload(message),
                headers=self._headers(message, token),
                extensions={"trace": stream.trace},
            )
            response = await line.client.send(request, stream=True)
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
            return Refused(f"push_url is no address: {error}", destination_down=True)
        except httpx2.TransportError as error:
            return unanswered(error, window, stream)
        line.wire = response.extensions.get("network_stream")
        window.decide(self._by_status(response))
        said = await _said(response)
        return self._sorted(response, said, device, token)

    def _headers(self, message: Message, token: str) -> dict[str, str]:
        expires_at = self._clock.now_ms() // 1000 + int(self._settings.push_keep_seconds)
        plain = headers(message.delivery, self._settings.push_topic, expires_at)
        return plain | {"authorization": f"bearer {token}", "content-type": "application/json"}

    def _sorted(
        self, response: httpx2.Response, said: Mapping[str, Any], device: Device, token: str
    ) -> Outcome:
        status, now_ms = response.status_code, self._clock.now_ms()
        if status == 410:
            return self._gone(device, said, now_ms)
        if status == 200:
            self._tokens.alive(device)
        if asks_for_renewal(status, said) and self._credential.rejected(token, now_ms):
            return Refused(f"{reason_of(status, said)}: signed anew")
        return self._by_status(response, said)

    def _by_status(self, response: httpx2.Response, said: Mapping[str, Any] = _NOTHING) -> Outcome:
        """Sort an answer, of which the status decides; its words may come later."""
        wait = retry_after_seconds(response.headers.get("retry-after"), self._clock.now_ms())
        return answered(response.status_code, said, response.headers.get("apns-id", ""), wait)

    def _gone(self, device: Device, said: Mapping[str, Any], now_ms: int) -> Outcome:
        word = dropped(device, said, now_ms)
        if device.outlives(word):
            return Permanent(f"{reason_of(410, said)}, although the token was registered later")
        self._tokens.add(word)
        return Permanent(word.reason)


def _leaving(outcome: Outcome) -> bool:
    """Tell whether Apple wants this connection to end."""
    return isinstance(outcome, Refused) and outcome.destination_down


async def _said(response: httpx2.Response) -> dict[str, Any]:
    """Read Apple's answer and end it; empty if it is no JSON object or does not come whole."""
    try:
        return object_in(await whole(response.aiter_bytes(), ANSWER_LIMIT_BYTES))
    except (httpx2.TransportError, httpx2.DecodingError):
        return {}
    finally:
        await response.aclose()
