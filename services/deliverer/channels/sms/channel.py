"""The channel: hands one message over on a thread of its own, and asks the list afterwards."""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from twilio.base.exceptions import TwilioException
from twilio.rest import Client

from services.backbone.certificates import Certificates
from services.backbone.clock import Clock
from services.contracts.recipients import complaint
from services.contracts.twilio import callback_address
from services.deliverer.channel import Doubt, Finding, Message, SendWindow, TooLate, Traits, Unclear
from services.deliverer.channels.sms.answers import answered
from services.deliverer.channels.sms.carrier import Carrier, NoAnswer, Way
from services.deliverer.channels.sms.connections import Connections
from services.deliverer.channels.sms.promise import PROMISE
from services.deliverer.channels.sms.settings import SmsSettings
from services.deliverer.channels.sms.witness import LISTED_LIMIT, PAGE_SIZE, Absence, judge, listed
from services.deliverer.channels.sms.wording import body
from services.deliverer.outcomes import Outcome, Permanent, Refused, Unknown
from services.deliverer.threads import DaemonThreads

_SEND_TIMEOUT_SECONDS: Final = 20.0
_REASON_LIMIT: Final = 200
_UNREADABLE: Final = (
    *(TwilioException, ValueError, LookupError, AttributeError, TypeError),
    *(OverflowError, RecursionError),
)
"""What Twilio's client ends with where an answer is not of the form that it expects."""


class SmsChannel:
    """POSTs each delivery once to Twilio's Messages."""

    def __init__(self, settings: SmsSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._connections = Connections(
            settings.sms_api_url.rstrip("/"),
            Certificates(settings.sms_ca_file),
            settings.sms_keep_alive_seconds,
            clock.monotonic_seconds,
        )
        self._threads = DaemonThreads("sms")
        proof = settings.sms_absence_seconds
        self._absence = None if proof is None else Absence(proof, settings.sms_validity_seconds)
        _ = self._client(self._carrier(1.0, lambda: None)).messages  # imported now, not at a send
        at_last = () if self._absence is None else self._absence.look_up_after_seconds
        self.traits = Traits(
            name="sms",
            promise=PROMISE,
            dedupes_by_key=False,
            send_timeout_seconds=_SEND_TIMEOUT_SECONDS,
            look_up_after_seconds=tuple(sorted({*settings.sms_look_up_after_seconds, *at_last})),
        )

    async def send(self, message: Message, window: SendWindow) -> Outcome:
        """Create one message."""
        wrong = complaint("sms", message.delivery.recipient)
        if wrong is not None:
            return Permanent(wrong)
        gate = Gate(window)
        try:
            return await self._threads.run(lambda: self._create(message, window, gate))
        finally:
            gate.shut()

    async def look_up(self, doubt: Doubt) -> Finding:
        """Look for the delivery's code in what Twilio lists for the recipient."""
        try:
            return await self._threads.run(lambda: self._look_up(doubt))
        except NoAnswer as error:
            return Unclear(f"Twilio's list was not to be had: {error}"[:_REASON_LIMIT])
        except _UNREADABLE as error:
            return Unclear(f"Twilio's list could not be read: {_told(error)}")

    def unusable(self) -> str | None:
        """Return None: a connection that is of no use is replaced by itself."""
        return None

    async def close(self) -> None:
        """Close connections."""
        self._connections.close()

    def _create(self, message: Message, window: SendWindow, gate: "Gate") -> Outcome:
        carrier = self._carrier(window.remaining_seconds(), gate.open)
        terms = self._terms(message)
        try:
            with suppress(*_UNREADABLE):  # the answer itself is judged below
                self._client(carrier).messages.create(**terms)
        except NoAnswer as error:
            return _failed(str(error), window)
        if carrier.answer is None:
            return _failed("no answer was read", window)
        return answered(carrier.answer, self._clock.now_ms())

    def _look_up(self, doubt: Doubt) -> Finding:
        carrier = self._carrier(self._settings.sms_look_up_timeout_seconds, lambda: None)
        found = self._client(carrier).messages.stream(
            to=doubt.delivery.recipient, limit=LISTED_LIMIT, page_size=PAGE_SIZE
        )
        return judge(doubt, listed(found), self._clock.now_ms(), self._absence)

    def _terms(self, message: Message) -> dict[str, Any]:
        settings = self._settings
        delivery = message.worded
        terms: dict[str, Any] = {
            "to": delivery.recipient,
            "body": body(delivery, settings.sms_segments_limit),
            "validity_period": settings.sms_validity_seconds,
        }
        if settings.sms_sender is not None:
            terms["from_"] = settings.sms_sender
        if settings.sms_messaging_service is not None:
            terms["messaging_service_sid"] = settings.sms_messaging_service
        if public := settings.callbacks_public_url:
            terms["status_callback"] = callback_address(
                public, delivery.delivery_id, message.attempt
            )
        return terms

    def _client(self, carrier: Carrier) -> Client:
        user, password = self._settings.login
        return Client(user, password, self._settings.sms_account_sid, http_client=carrier)

    def _carrier(self, seconds: float, on_first_byte: Callable[[], None]) -> Carrier:
        connect = min(seconds, self._settings.sms_connect_timeout_seconds)
        least = 0.001  # 0 would mean "do not wait at all"
        way = Way(self._connections, max(connect, least), max(seconds, least))
        return Carrier(way, on_first_byte)


class Gate:
    """Lets the first byte out only while somebody waits for the answer.

    A thread cannot be stopped. What was given up before its first byte counts as not sent, so the
    thread must find the gate shut when it gets that far.
    """

    def __init__(self, window: SendWindow) -> None:
        self._window = window
        self._lock = threading.Lock()
        self._is_shut = False

    def open(self) -> None:
        """Open the window.

        Raises:
            TooLate: the window is over, or nobody waits any more.
        """
        with self._lock:
            if self._is_shut:
                raise TooLate("the send was given up before its first byte")
            self._window.open()

    def shut(self) -> None:
        """Let nothing out from now on."""
        with self._lock:
            self._is_shut = True


def _failed(reason: str, window: SendWindow) -> Outcome:
    if window.opened:
        return Unknown(reason[:_REASON_LIMIT])
    return Refused(f"nothing had been sent: {reason}"[:_REASON_LIMIT], destination_down=True)


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:_REASON_LIMIT]
