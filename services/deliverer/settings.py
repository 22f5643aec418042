"""Settings of the deliverer; a channel's own settings are in the channel's file."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from services.backbone.backoff import Backoff
from services.backbone.kafka.producer import ProducerSettings
from services.backbone.mirror import MirrorSettings
from services.backbone.settings import LedgerSettings, Seconds
from services.contracts.records import Name, Severity
from services.deliverer.channel import Traits
from services.deliverer.decision import Policy

LEASE_OF_SEND_TIMEOUTS = 3.0
"""A lease lasts this many send timeouts if no setting says otherwise."""


class DelivererSettings(LedgerSettings, ProducerSettings, MirrorSettings):
    """What one deliverer can be told."""

    channel: Name
    """The channel that this deliverer serves."""
    producer_linger_ms: Annotated[int, Field(ge=0, le=1000)] = 50
    """It writes what has happened, which nobody waits for; a bus's records go another way."""
    concurrency: Annotated[int, Field(ge=1, le=1000)] = 32
    """Sends at once, to a destination that is known to answer."""
    rate_per_second: Annotated[float, Field(gt=0, le=100_000)] | None = None
    """Sends per second, of all deliverers of the channel together; unset: as many as there are."""
    rate_burst: Annotated[int, Field(ge=1, le=100_000)] = 1
    """So many of them may go at once after a quiet time."""
    send_timeout_seconds: Seconds | None = None
    """From claim to answer; unset: what the channel declares."""
    lease_seconds: Seconds | None = None
    """How long a claim is its owner's, at least two send timeouts; unset: three."""
    attempts_limit: Annotated[int, Field(ge=1, le=1000)] = 20
    """After so many tries a delivery that was provably not taken is HELD."""
    retry_first_seconds: Seconds = 1.0
    """The wait after the first such try; it doubles from try to try, with jitter."""
    retry_limit_seconds: Seconds = 300.0
    """The longest wait between two tries."""
    retry_after_limit_seconds: Seconds = 3600.0
    """The longest wait that a receiver may ask for."""
    in_doubt_deadline_seconds: Seconds = 120.0
    """How long a doubt waits for evidence."""
    look_up_timeout_seconds: Seconds = 20.0
    """For one question to the provider about a doubt."""
    in_doubt_repeats: frozenset[Severity] | None = None
    """Severities that are repeated once, with a mark, after a doubt without evidence; unset: what
    the channel declares; `[]` holds all."""
    breaker_failures_limit: Annotated[int, Field(ge=1, le=1000)] = 5
    """A destination that fails so often in a row is left alone for a while; one that has not
    answered yet gets so many sends at once, and one more for each answer, up to `concurrency`."""
    breaker_first_seconds: Seconds = 1.0
    """The first pause before it is probed; pauses grow."""
    breaker_limit_seconds: Seconds = 60.0
    """The longest pause between two probes."""
    sweep_seconds: Seconds = 1.0
    """Between two looks into the ledger for what no record told of."""
    age_limit_hours: Annotated[float, Field(gt=0, le=24 * 365)] = 168.0
    """Deliveries that are older, and not sent yet, are HELD."""

    @model_validator(mode="after")
    def _lease_holds_two_sends(self) -> Self:
        lease, timeout = self.lease_seconds, self.send_timeout_seconds
        if lease is not None and timeout is not None and lease < 2 * timeout:
            raise ValueError("lease_seconds must be at least twice send_timeout_seconds")
        return self

    def traits(self, declared: Traits) -> Traits:
        """Return the channel's traits with what these settings say instead."""
        return declared.overridden(self.in_doubt_repeats, self.send_timeout_seconds)

    def policy(self, traits: Traits) -> Policy:
        """Return how this channel repeats and doubts."""
        return Policy(
            dedupes_by_key=traits.dedupes_by_key,
            repeats=traits.repeats,
            attempts_limit=self.attempts_limit,
            backoff=Backoff(self.retry_first_seconds, limit_seconds=self.retry_limit_seconds),
            retry_after_limit_seconds=self.retry_after_limit_seconds,
        )

    def lease(self, traits: Traits) -> float:
        """Return the lease in seconds, at least twice the time that a send may take."""
        asked = self.lease_seconds or LEASE_OF_SEND_TIMEOUTS * traits.send_timeout_seconds
        return max(asked, 2 * traits.send_timeout_seconds)
