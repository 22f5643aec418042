"""Posts results to NRDP, and sorts what it answers; with Nagios' pages it can be asked."""

import re
from dataclasses import dataclass
from typing import Any, Final

import aiohttp
import orjson

from services.backbone.clock import Clock
from services.contracts.recipients import complaint
from services.contracts.records import Severity
from services.deliverer.channel import Doubt, Finding, Message, SendWindow, Traits, Unclear
from services.deliverer.channels.nagios.wording import TEXT_LIMIT_BYTES, Result, result
from services.deliverer.channels.nrdp.promise import PROMISE
from services.deliverer.channels.nrdp.settings import NrdpSettings
from services.deliverer.channels.nrdp.witness import NrdpWitness, look_up_times
from services.deliverer.outcomes import Accepted, Outcome, Permanent, Refused, Unknown
from services.deliverer.posting import (
    REASON_LIMIT,
    NoAddress,
    answer_bytes,
    failed,
    open_web,
    post,
    retry_after_seconds,
)

_OF_THE_MESSAGE: Final = frozenset({"BAD JSON", "BAD XML", "NO DATA"})
"""Refusals for the message's sake; all others are for the server's, whoever sends."""
_XML_STATUS: Final = re.compile(r"<status>\s*(-?\d{1,9})\s*</status>")
_XML_MESSAGE: Final = re.compile(r"<message>([^<]*)</message>")


class NrdpChannel:
    """Posts each delivery in one request, on a connection of its own."""

    def __init__(self, settings: NrdpSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        user = settings.nrdp_username
        self._web = open_web(
            connect_timeout_seconds=settings.nrdp_connect_timeout_seconds,
            ca_file=settings.nrdp_ca_file,
            login=None if user is None else (user, settings.nrdp_password.get_secret_value()),
        )
        url = settings.nrdp_status_url
        self._witness = None if url is None else NrdpWitness(settings, url, clock)
        self.traits = Traits(
            name="nrdp",
            promise=PROMISE,
            dedupes_by_key=settings.nrdp_dedupes,
            repeats=frozenset({Severity.CRITICAL}),
            send_timeout_seconds=15.0,
            look_up_after_seconds=() if url is None else look_up_times(settings),
        )

    async def send(self, message: Message, window: SendWindow) -> Outcome:
        """Post one result; status and body of the answer decide."""
        if wrong := complaint("nrdp", message.delivery.recipient):
            return Permanent(wrong)
        try:
            response = await post(self._web, self._settings.nrdp_url, window, self._form(message))
        except NoAddress as error:
            return Refused(f"nrdp_url is no address: {error}", destination_down=True)
        except aiohttp.ClientError as error:
            return failed(error, window)
        wait = retry_after_seconds(response.headers.get("retry-after"), self._clock.now_ms())
        if not 200 <= response.status < 300:
            window.decide(answered(response.status, None, wait))
        return answered(response.status, answer(await answer_bytes(response)), wait)

    async def look_up(self, doubt: Doubt) -> Finding:
        """Ask the Nagios behind NRDP."""
        if self._witness is None:
            return Unclear("nrdp_status_url is not set")
        return await self._witness.look_up(doubt)

    def unusable(self) -> str | None:
        """Return None: each connection is new."""
        return None

    async def close(self) -> None:
        """Close connections."""
        await self._web.close()
        if self._witness is not None:
            await self._witness.close()

    def _form(self, message: Message) -> dict[str, str]:
        told = result(
            message, self._settings.nrdp_info_state, self._clock.now_ms(), TEXT_LIMIT_BYTES
        )
        return {
            "token": self._settings.nrdp_token.get_secret_value(),
            "cmd": "submitcheck",
            "JSONDATA": submission(told),
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """What NRDP said: 0 is taken, anything else is refused with a word."""

    status: int
    word: str


def submission(told: Result) -> str:
    """Return the JSON of one result; without a time of its own, which NRDP would put elsewhere."""
    place = told.place
    check: dict[str, Any] = {
        "checkresult": {"type": "host" if place.service is None else "service"},
        "hostname": place.host,
        "state": str(told.state),
        "output": told.text,
    }
    if place.service is not None:
        check["servicename"] = place.service
    return orjson.dumps({"checkresults": [check]}).decode()


def answer(body: bytes) -> Answer | None:
    """Read an answer, in JSON or, of older servers, in XML; None if it is not NRDP's."""
    try:
        said = orjson.loads(body)
        found = said["result"]
        return Answer(int(found["status"]), str(found.get("message", "")))
    except (ValueError, TypeError, KeyError, AttributeError):
        text = body.decode(errors="replace")
    status, word = _XML_STATUS.search(text), _XML_MESSAGE.search(text)
    return None if status is None else Answer(int(status[1]), word[1] if word else "")


def answered(status: int, said: Answer | None, retry_after: float | None) -> Outcome:
    """Sort what came back.

    A page that is missing, forbidden or moved is the server's set-up, and never the message's
    fault: it waits. NRDP's own refusals all come before it writes anything.
    """
    if status in (429, 503):
        return Refused(f"answered HTTP {status}", retry_after, destination_down=True)
    if status >= 500 or status == 408 or status < 200:
        return Unknown(f"answered HTTP {status}")
    if status >= 300:
        return Refused(f"answered HTTP {status}: see nrdp_url", destination_down=True)
    return _judged(said)


def _judged(said: Answer | None) -> Outcome:
    if said is None:
        return Unknown("answered without NRDP's status: is nrdp_url the address of an NRDP?")
    if said.status == 0:
        return Accepted()
    reason = f"NRDP answered {said.status} {said.word}"[:REASON_LIMIT]
    if said.word in _OF_THE_MESSAGE:
        return Permanent(reason)
    return Refused(reason, destination_down=True)
