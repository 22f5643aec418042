"""`python -m tests.matrix.crashing POINT`: a real deliverer that ends, or stops, itself at a point.

The program is the shipped one. Around one of its calls stands what sends SIGKILL, or SIGSTOP, to
the process itself, the first time that it gets there: so the point is exact, and not a race.
"""

import os
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from enum import StrEnum
from functools import partial
from typing import Any

from services.backbone.kafka.consumer import Consumer, Incoming
from services.backbone.ledger.deliveries.claims import Claim, Claims, Settlement
from services.contracts.states import State
from services.deliverer.__main__ import main
from services.deliverer.channel import SendWindow
from services.deliverer.recorder import Recorder


class Point(StrEnum):
    """Where the process ends itself."""

    BEFORE_CLAIM = "before-claim"
    AFTER_CLAIM = "after-claim"
    WINDOW_OPEN = "window-open"
    ANSWERED = "answered"
    RECORDED = "recorded"
    PAUSED = "paused"
    UNRECORDED = "unrecorded"


def install(point: Point) -> None:
    """Put the end of the process around the call that the point is about."""
    ends: dict[Point, Callable[[], None]] = {
        Point.BEFORE_CLAIM: before_claim,
        Point.AFTER_CLAIM: partial(after_claim, signal.SIGKILL),
        Point.WINDOW_OPEN: window_open,
        Point.ANSWERED: answered,
        Point.RECORDED: recorded,
        Point.PAUSED: partial(after_claim, signal.SIGSTOP),
        Point.UNRECORDED: unrecorded,
    }
    ends[point]()


def before_claim() -> None:
    """End before the claim has left for the ledger."""

    async def ended(*_: Any) -> list[Claim]:
        end(signal.SIGKILL)
        raise AssertionError

    replace(Claims, "by_id", ended)
    replace(Claims, "due", ended)


def after_claim(number: signal.Signals) -> None:
    """End, or stop, when the claim is committed and nothing was sent yet."""
    replace(Claims, "by_id", _then(Claims.by_id, number))
    replace(Claims, "due", _then(Claims.due, number))


def window_open() -> None:
    """End when the window is open: bytes of the message may leave, and none has."""
    opens = SendWindow.open

    def opened(self: SendWindow) -> None:
        opens(self)
        end(signal.SIGKILL)

    replace(SendWindow, "open", opened)


def answered() -> None:
    """End when the provider's answer is known and not recorded."""

    async def ended(*_: Any) -> State | None:
        end(signal.SIGKILL)
        raise AssertionError

    replace(Recorder, "record", ended)


def unrecorded() -> None:
    """Stop when the first answer is known and not recorded; woken, record it."""
    record, once = Recorder.record, [True]

    async def stopped(self: Recorder, settlement: Settlement) -> State | None:
        if once:
            once.clear()
            end(signal.SIGSTOP)
        return await record(self, settlement)

    replace(Recorder, "record", stopped)


def recorded() -> None:
    """End when an outcome is recorded, with no offset committed."""
    settle = Claims.settle

    async def settled(self: Claims, settlements: Sequence[Settlement]) -> dict[str, State]:
        moved = await settle(self, settlements)
        end(signal.SIGKILL)
        return moved

    def uncommitted(_: Consumer, __: Sequence[Incoming]) -> None:
        """Leave the offset where it is."""

    replace(Claims, "settle", settled)
    replace(Consumer, "commit", uncommitted)


def replace(owner: type, name: str, call: Callable[..., Any]) -> None:
    """Put a call in the place of another."""
    setattr(owner, name, call)


def end(number: signal.Signals) -> None:
    """Send the signal to this process."""
    os.kill(os.getpid(), number)


def _then(
    call: Callable[..., Awaitable[list[Claim]]], number: signal.Signals
) -> Callable[..., Awaitable[list[Claim]]]:
    once = [True]

    async def called(*arguments: Any) -> list[Claim]:
        claimed = await call(*arguments)
        if claimed and once:
            once.clear()
            end(number)
        return claimed

    return called


if __name__ == "__main__":
    install(Point(sys.argv[1]))
    sys.exit(main([]))
