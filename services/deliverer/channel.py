"""What a channel is: traits, one `send`, and the window in which a send may begin."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Protocol, runtime_checkable

from services.backbone.clock import Clock
from services.contracts.records import SHORT_LIMIT_CHARACTERS, Delivery, Severity
from services.contracts.texts import behind
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
        self.decided: Outcome | None = None
        """What the send came to, whatever ends it now."""

    def open(self) -> None:
        """Be called directly before the first byte that could make the provider take the message.

        Raises:
            TooLate: another owner may judge this delivery soon; do not write.
        """
        if self._clock.monotonic_seconds() >= self._ends_at:
            raise TooLate("the claim's send window was over before the first byte")
        self.opened_at_ms = self.opened_at_ms or self._clock.now_ms()

    def decide(self, outcome: Outcome) -> None:
        """Be called when the outcome is known and more is waited for, as an answer's body.

        A later outcome takes the place of this one, but that the send is cut off does not.
        """
        self.decided = outcome

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
        subject = (REPEAT_MARK + self.delivery.subject)[:SHORT_LIMIT_CHARACTERS]
        text = behind(REPEAT_NOTE, self.delivery.text)
        return self.delivery.model_copy(update={"subject": subject, "text": text})


@dataclass(frozen=True, slots=True)
class Promise:
    """What a channel promises, in plain sentences; docs/promises.md is made of it."""

    recipient: str
    """What a recipient is."""
    our_id: str
    """Where the provider and the reader find the delivery's id."""
    taken_when: str
    not_taken: str
    """What proves that it was not taken, so that it is sent again."""
    permanent: str
    """What is refused for good."""
    in_doubt: str
    """What leaves nobody knowing."""
    evidence: str
    """What ends a doubt afterwards."""
    without_faults: str
    after_doubt: str
    """What is promised where a doubt was not ended by evidence."""
    not_promised: str


@dataclass(frozen=True, slots=True)
class Traits:
    """What a channel declares about itself; settings may override some of it."""

    name: str
    promise: Promise
    dedupes_by_key: bool
    """The receiving side drops a second message with the same delivery id."""
    repeats: frozenset[Severity] = frozenset()
    """Severities that are repeated, with a mark, when a doubt is not resolved; others are held."""
    breaker_per_recipient: bool = False
    """Whether recipients are different systems, so that one's outage says nothing of others."""
    send_timeout_seconds: float = 10.0
    look_up_after_seconds: tuple[float, ...] = ()
    """When a Witness is asked, counted from the beginning of the doubt, ascending."""
    names: frozenset[str] | None = None
    """Recipients that the channel's settings give an address; None where there are no names."""

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
        through. Cancelled when the window's time for an answer is over, or at a stop: call
        `window.decide` before anything is awaited that cannot change the outcome.
        """

    def unusable(self) -> str | None:
        """Return why the program must be started anew, or None."""

    async def close(self) -> None:
        """Let go of connections."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A send without a clear answer, as evidence of it is looked for."""

    delivery: Delivery
    attempt: int
    claimed_at_ms: int
    """When the try in doubt began; nothing of it was taken before."""
    lease_over_at_ms: int
    """After this, the try's owner sends nothing any more."""
    provider_id: str = ""


@dataclass(frozen=True, slots=True)
class Taken:
    """The provider has the message."""

    provider_id: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Undelivered:
    """The provider had the message and has given it up; the recipient does not get it."""

    provider_id: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Absent:
    """Proof that the provider has not taken the message, and that it never will."""

    detail: str


@dataclass(frozen=True, slots=True)
class Unclear:
    """No proof either way yet."""

    detail: str


Finding = Taken | Undelivered | Absent | Unclear


@runtime_checkable
class Witness(Protocol):
    """A channel whose provider can be asked afterwards what it has taken."""

    async def look_up(self, doubt: Doubt) -> Finding:
        """Ask once; trouble with asking is Unclear.

        Absent must be proof: the try's lease is over, and so is the time within which the provider
        shows what it has taken.
        """


OpenChannel = Callable[[Clock], Channel]
"""Reads the channel's own settings and makes it; called once, on the event loop."""
