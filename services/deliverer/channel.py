"""What a channel is: traits, one `send`, and the window in which a send may begin."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Protocol

from services.backbone.clock import Clock
from services.contracts.records import Delivery, Severity
from services.deliverer.outcomes import Outcome

REPEAT_MARK: Final = "[possible repeat] "
REPEAT_NOTE: Final = "This may have reached you before: the first try got no clear answer."


class TooLate(Exception):
    """The window in which bytes may leave is over; nothing was sent."""


class SendWindow:
    """The right to begin one send and to wait for its answer, well inside the claim's lease.

    `ends_at` is in seconds of the monotonic clock, counted from before the claim left for the
    ledger: so the window ends before half of the lease is over.
    """

    def __init__(self, clock: Clock, ends_at: float) -> None:
        self._clock = clock
        self._ends_at = ends_at
        self.opened_at_ms: int | None = None

    def open(self) -> None:
        """Be called directly before the first byte that could make the provider take the message.

        Raises:
            TooLate: another owner may judge this delivery soon; do not write.
        """
        if self._clock.monotonic_seconds() >= self._ends_at:
            raise TooLate("the claim's send window was over before the first byte")
        self.opened_at_ms = self.opened_at_ms or self._clock.now_ms()

    @property
    def opened(self) -> bool:
        """Whether bytes may have left."""
        return self.opened_at_ms is not None

    def remaining_seconds(self) -> float:
        """Return how long an answer may still take."""
        return max(0.0, self._ends_at - self._clock.monotonic_seconds())


@dataclass(frozen=True, slots=True)
class Message:
    """One delivery as it goes out, at this try."""

    delivery: Delivery
    attempt: int
    marked_repeat: bool = False

    @property
    def worded(self) -> Delivery:
        """The delivery with the visible mark, if this is a possible repeat."""
        if not self.marked_repeat:
            return self.delivery
        subject = (REPEAT_MARK + self.delivery.subject)[:512]
        text = f"{REPEAT_NOTE}\n\n{self.delivery.text}"[:4096]
        return self.delivery.model_copy(update={"subject": subject, "text": text})


@dataclass(frozen=True, slots=True)
class Traits:
    """What a channel declares about itself; settings may override some of it."""

    name: str
    dedupes_by_key: bool
    """The receiving side drops a second message with the same delivery id."""
    repeats: frozenset[Severity] = frozenset()
    """Severities that are repeated, with a mark, when a doubt is not resolved; others are held."""
    breaker_per_recipient: bool = False
    """Whether recipients are different systems, so that one's outage says nothing of others."""
    send_timeout_seconds: float = 10.0

    def destination(self, recipient: str) -> str:
        """Return the key of the breaker that a recipient falls under."""
        return recipient if self.breaker_per_recipient else ""

    def overridden(
        self, repeats: frozenset[Severity] | None, send_timeout: float | None
    ) -> "Traits":
        """Return the traits with what the settings say instead."""
        return replace(
            self,
            repeats=self.repeats if repeats is None else repeats,
            send_timeout_seconds=send_timeout or self.send_timeout_seconds,
        )


class Channel(Protocol):
    """A way to reach a recipient."""

    @property
    def traits(self) -> Traits:
        """What the channel declares."""

    async def send(self, message: Message, window: SendWindow) -> Outcome:
        """Hand one message over and say what came of it; never try twice.

        Must call `window.open()` directly before the decisive bytes leave, and let its TooLate
        through. Cancelled when the window's time for an answer is over.
        """

    def unusable(self) -> str | None:
        """Return why the program must be started anew, or None."""

    async def close(self) -> None:
        """Let go of connections."""


OpenChannel = Callable[[Clock], Channel]
"""Reads the channel's own settings and makes it; called once, on the event loop."""
