"""How the far end misbehaves: dials, and the decision per message as a pure function."""

import random
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

Share = Annotated[float, Field(ge=0, le=1)]
Refusal = Annotated[int, Field(ge=400, le=599)]
NOISE: Final = b"\x16\x03 what was that?\r\n\r\n"
"""No answer in any protocol that is spoken here."""


class Verdict(StrEnum):
    """What happens to one message."""

    ACCEPTED = "accepted"
    DROPPED = "dropped"
    REFUSED = "refused"


class Strange(StrEnum):
    """An answer that no such provider gives."""

    NOISE = "noise"
    """Bytes that are not of the protocol."""
    PAGE = "page"
    """HTTP 200 and a page for people, as a proxy in between would answer; noise elsewhere."""


class Faults(BaseModel):
    """The dials of one way in; a provider with more dials has a subclass.

    A share of messages is refused with `refuse_status` and not kept; 429 and 503 ask to come
    again. Of the others a share is kept and then the connection closes without an answer:
    `accept_then_drop_share`. Every answer comes after `delay_seconds`. `retry_after_seconds` goes
    with an HTTP refusal. What is kept can be answered by nonsense: `strange_answers`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    refuse_share: Share = 0.0
    refuse_status: Refusal = 503
    retry_after_seconds: Annotated[int, Field(ge=0, le=86_400)] | None = None
    accept_then_drop_share: Share = 0.0
    delay_seconds: Annotated[float, Field(ge=0, le=600)] = 0.0
    strange_answers: Strange | None = None

    def decide(self, rng: random.Random) -> Verdict:
        """Draw what happens to the next message."""
        if rng.random() < self.refuse_share:
            return Verdict.REFUSED
        dropped = rng.random() < self.accept_then_drop_share
        return Verdict.DROPPED if dropped else Verdict.ACCEPTED


class MailFaults(Faults):
    """The mail server's dials; 451 asks to come again, 550 says never."""

    refuse_status: Refusal = 451


Dials = Mapping[str, Faults]
"""The dials of every way in, by its name, as GET /dials shows them and POST /dials takes them."""
