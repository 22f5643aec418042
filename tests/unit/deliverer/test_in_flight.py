"""What is in flight, and what has ended here, was sent as far as anybody can know."""

import asyncio

from services.backbone.ledger.deliveries.claims import Claim
from services.contracts.states import State
from services.deliverer.in_flight import ENDED_LIMIT, InFlight


def claim(number: int) -> Claim:
    return Claim(str(number), "a", "webhook", "someone", "{}", State.PENDING, 1, 1, False)


async def nothing() -> None:
    pass


async def test_only_a_claim_whose_answer_never_came_was_never_had() -> None:
    in_flight, sending = InFlight(), asyncio.create_task(nothing())
    for number in range(2):
        in_flight.add(claim(number), sending)
    in_flight.end(claim(0))
    assert in_flight.never_had([("0", 1), ("1", 1), ("0", 2), ("2", 1)]) == [("0", 2), ("2", 1)]
    await in_flight.wait(60)
    assert in_flight.ids() == [("1", 1)]


async def test_the_newest_that_ended_are_remembered() -> None:
    in_flight, sending = InFlight(), asyncio.create_task(nothing())
    for number in range(ENDED_LIMIT + 1):
        in_flight.add(claim(number), sending)
        in_flight.end(claim(number))
    await sending
    newest = [("1", 1), (str(ENDED_LIMIT), 1)]
    assert in_flight.never_had([("0", 1), *newest]) == [("0", 1)]
