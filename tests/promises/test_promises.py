"""What every channel promises, against its real far end or a stand-in: one story per promise.

Each test runs for the channels that its marks name. What only one channel can show stands in that
channel's own tests, marked in the same way; `make docs` puts both beside the promise.
"""

import asyncio
from dataclasses import replace

import pytest

from services.deliverer.channel import SendWindow, Taken, TooLate, Witness
from services.deliverer.outcomes import Accepted, Outcome, Permanent, Refused, Unknown
from services.deliverer.wiring import promise_of
from tests.matrix.peer import Refusal
from tests.promises.senders import WINDOW_SECONDS, Sender

OWN_TROUBLE_IS_A_REFUSAL = frozenset({"email", "push"})
"""Where a server's error is documented to mean that nothing was taken."""
STATUSES: dict[str, dict[int, type[Outcome]]] = {
    "email": {421: Refused, 450: Refused, 452: Refused, 550: Permanent, 554: Permanent},
    "nrdp": {401: Refused, 404: Refused, 408: Unknown, 429: Refused, 502: Unknown, 503: Refused},
    "pagerduty": {
        **{400: Permanent, 403: Permanent, 404: Permanent, 408: Unknown},
        **{429: Refused, 500: Unknown, 502: Unknown, 503: Refused, 504: Unknown},
    },
    "push": {
        **{400: Permanent, 404: Permanent, 405: Permanent, 408: Unknown, 413: Permanent},
        **{429: Refused, 500: Refused, 502: Unknown, 503: Refused, 403: Refused},
    },
    "slack": {
        **{400: Permanent, 401: Refused, 403: Refused, 404: Permanent, 408: Unknown},
        **{429: Refused, 500: Unknown, 503: Unknown},
    },
    "sms": {400: Permanent, 401: Refused, 408: Unknown, 409: Unknown, 429: Refused, 503: Unknown},
    "webhook": {
        **{400: Permanent, 404: Permanent, 408: Unknown, 409: Unknown, 410: Permanent},
        **{425: Refused, 429: Refused, 500: Unknown, 502: Unknown, 503: Refused, 504: Unknown},
    },
}
"""What an answer means that says no more than its status, as each promise names it."""
A_PAGE_IS_ENOUGH = frozenset({"webhook"})
"""Where any 2xx counts, since nothing is known of the receiver."""


@pytest.mark.promise("taken_when", "every")
@pytest.mark.promise("our_id", "every")
@pytest.mark.promise("without_faults", "every")
async def test_what_is_accepted_is_there_once_under_our_id(
    sender: Sender, channel_name: str
) -> None:
    message = sender.message()
    window = sender.window()
    assert isinstance(await sender.send(message, window), Accepted)
    assert window.opened
    await sender.has(message)
    assert await sender.marks(message) == (False,)
    assert sender.channel.traits.promise is promise_of(channel_name)


@pytest.mark.promise("not_taken", "email nrdp pagerduty push slack sms webhook")
async def test_told_to_wait_it_was_not_taken(sender: Sender, channel_name: str) -> None:
    sender.refuse(Refusal.FOR_NOW, retry_after_seconds=7)
    message = sender.message()
    outcome = await sender.send(message)
    assert isinstance(outcome, Refused)
    assert outcome.retry_after_seconds == (None if channel_name == "email" else 7)
    assert await sender.marks(message) == ()


@pytest.mark.promise("in_doubt", "nrdp pagerduty slack sms webhook")
@pytest.mark.promise("not_taken", "email push")
async def test_a_servers_error_is_a_doubt_unless_it_is_documented(
    sender: Sender, channel_name: str
) -> None:
    sender.refuse(Refusal.IN_TROUBLE)
    kind = Refused if channel_name in OWN_TROUBLE_IS_A_REFUSAL else Unknown
    assert isinstance(await sender.send(sender.message()), kind)


@pytest.mark.promise("not_taken", "nrdp pagerduty push webhook")
async def test_an_unavailable_service_has_taken_nothing(sender: Sender) -> None:
    sender.refuse(Refusal.IN_TROUBLE, refuse_status=503)
    outcome = await sender.send(sender.message())
    assert isinstance(outcome, Refused)
    assert outcome.destination_down


@pytest.mark.promise("not_taken", "email nrdp pagerduty push slack sms webhook")
@pytest.mark.promise("permanent", "email nrdp pagerduty push slack sms webhook")
@pytest.mark.promise("in_doubt", "nrdp pagerduty push slack sms webhook")
async def test_each_status_means_what_the_promise_says(sender: Sender, channel_name: str) -> None:
    for status, kind in STATUSES[channel_name].items():
        sender.refuse(Refusal.IN_TROUBLE, refuse_status=status)
        message = sender.message()
        outcome = await sender.send(message)
        assert isinstance(outcome, kind), (status, outcome)
        assert await sender.marks(message) == ()


@pytest.mark.promise("permanent", "email nrdp pagerduty push slack sms webhook")
async def test_what_is_refused_for_good_says_why(sender: Sender) -> None:
    sender.refuse(Refusal.FOR_GOOD)
    message = sender.message()
    outcome = await sender.send(message)
    assert isinstance(outcome, Permanent)
    assert outcome.reason
    assert await sender.marks(message) == ()


@pytest.mark.promise("in_doubt", "email nrdp pagerduty push rabbitmq slack sms webhook")
async def test_taken_and_the_answer_lost_is_a_doubt(sender: Sender) -> None:
    assert sender.peer.dial(accept_then_drop_share=1)
    message = sender.message()
    async with asyncio.TaskGroup() as tasks:
        sending = tasks.create_task(sender.send(message))
        await sender.has(message)
        sender.calm()
    assert isinstance(sending.result(), Unknown)


@pytest.mark.promise("in_doubt", "bus email nrdp pagerduty push rabbitmq slack sms webhook")
async def test_a_send_given_up_while_the_answer_is_awaited_has_let_bytes_out(
    sender: Sender,
) -> None:
    assert sender.peer.dial(delay_seconds=WINDOW_SECONDS)
    message, window = sender.message(), sender.window()
    sending = asyncio.create_task(sender.send(message, window))
    await sender.has(message)
    sending.cancel()
    await asyncio.wait([sending])
    assert sending.cancelled()
    assert window.opened


@pytest.mark.promise("in_doubt", "email nrdp pagerduty push slack sms webhook")
async def test_an_answer_that_nobody_understands_is_a_doubt(sender: Sender) -> None:
    assert sender.peer.dial(strange_answers="noise")
    message = sender.message()
    assert isinstance(await sender.send(message), Unknown)
    await sender.has(message)


@pytest.mark.promise("in_doubt", "nrdp pagerduty slack sms")
@pytest.mark.promise("taken_when", "webhook")
async def test_a_page_from_something_in_between_is_no_acceptance(
    sender: Sender, channel_name: str
) -> None:
    assert sender.peer.dial(strange_answers="page")
    kind = Accepted if channel_name in A_PAGE_IS_ENOUGH else Unknown
    assert isinstance(await sender.send(sender.message()), kind)


@pytest.mark.promise("not_taken", "every")
async def test_after_its_window_nothing_goes_out(sender: Sender, channel_name: str) -> None:
    message = sender.message()
    over = SendWindow(sender.clock, sender.clock.monotonic_seconds() - 1)
    if channel_name == "slack":  # it waits for its turn within the window first
        outcome = await asyncio.gather(sender.send(message, over), return_exceptions=True)
        assert isinstance(outcome[0], TooLate | Refused)
    else:
        with pytest.raises(TooLate):
            await sender.send(message, over)
    assert not over.opened
    assert await sender.marks(message) == ()


@pytest.mark.promise("evidence", "log nagios slack sms")
async def test_what_was_taken_is_found_again(sender: Sender) -> None:
    message, other = sender.message(), sender.message()
    await sender.send(message)
    await sender.has(message)
    assert isinstance(sender.channel, Witness)
    assert sender.channel.traits.look_up_after_seconds
    assert isinstance(await sender.channel.look_up(sender.doubt(message)), Taken)
    assert not isinstance(await sender.channel.look_up(sender.doubt(other)), Taken)


@pytest.mark.promise("evidence", "bus email nrdp pagerduty push rabbitmq webhook")
async def test_without_evidence_none_is_looked_for(sender: Sender) -> None:
    assert sender.channel.traits.look_up_after_seconds == ()


@pytest.mark.promise("after_doubt", "email log nagios nrdp slack sms webhook")
async def test_a_repeat_carries_the_mark(sender: Sender) -> None:
    message = sender.message()
    assert not sender.channel.traits.dedupes_by_key
    await sender.send(message)
    await sender.has(message)
    await sender.send(replace(message, attempt=2, marked_repeat=True))
    await sender.has(message, times=2)
    assert await sender.marks(message) == (False, True)


@pytest.mark.promise("after_doubt", "bus pagerduty push rabbitmq")
async def test_a_repeat_has_the_same_key(sender: Sender) -> None:
    message = sender.message()
    assert sender.channel.traits.dedupes_by_key
    await sender.send(message)
    await sender.send(replace(message, attempt=2))
    await sender.has(message, times=2)
