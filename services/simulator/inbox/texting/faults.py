"""How the text message provider misbehaves beyond what all providers do."""

from typing import Annotated, Literal

from pydantic import Field

from services.simulator.inbox.faults import Faults, Share

SENT_ON: tuple[str, ...] = ("sending", "sent")


class TextingFaults(Faults):
    """The dials of callbacks and of the list.

    Statuses go `queued`, `sending`, `sent`, then `delivered`, or `undelivered` with `error_code`
    for a share of messages; `queued` is not called back. `callbacks` is `before` the answer, soon
    `after` it, or `never`. Each is called `callback_times`; `reversed` calls the last status first;
    `forged` signs with another token.
    """

    undelivered_share: Share = 0.0
    error_code: Annotated[int, Field(ge=30_000, le=99_999)] = 30_003
    callbacks: Literal["before", "after", "never"] = "after"
    callback_times: Annotated[int, Field(ge=1, le=10)] = 1
    callbacks_reversed: bool = False
    callbacks_forged: bool = False
    list_hides_seconds: Annotated[float, Field(ge=0, le=86_400)] = 0.0
    """How late the list shows a message."""

    def course(self, lost: bool) -> tuple[str, ...]:
        """Return the statuses to call back, in the sequence of the calls."""
        statuses = (*SENT_ON, "undelivered" if lost else "delivered")
        ordered = statuses[::-1] if self.callbacks_reversed else statuses
        return tuple(status for status in ordered for _ in range(self.callback_times))
