"""What one send came to, as four types; only `Refused` may ever be repeated by itself.

Outcome
├── Accepted    the provider said that it has the message
├── Refused     provably not taken: no byte of the message left, or a documented refusal
├── Permanent   refused for good: repeating the same can never work
└── Unknown     bytes left and no clear answer came: it may have been taken
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Accepted:
    """The provider has the message; `provider_id` is its own name for it, or empty."""

    provider_id: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """Provably not taken; `destination_down` tells that others to there would fare the same.

    With `own_pace` it was we who did not send it yet: that says nothing about the destination.
    """

    reason: str
    retry_after_seconds: float | None = None
    destination_down: bool = False
    own_pace: bool = False


@dataclass(frozen=True, slots=True)
class Permanent:
    """Refused for good."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """It may have been taken, or not."""

    reason: str


Outcome = Accepted | Refused | Permanent | Unknown
