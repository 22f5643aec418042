"""Every channel in the whole system, with the settings that `make run` gives it by itself."""

import re

import httpx2
import pytest

from tests.acceptance.system import DELIVERED, EVERYWHERE, System

pytestmark = pytest.mark.timeout(600)

WAYS = {
    "webhook": "hook",
    "email": "mail",
    "sms": "twilio",
    "push": "apns",
    "slack": "slack",
    "pagerduty": "pagerduty",
    "nrdp": "nrdp",
    "nagios": "nagios",
    "rabbitmq": "rabbitmq",
}
"""What the inbox calls the far end of a channel; it has none for bus and log."""


@pytest.fixture(scope="module")
def ids(system: System) -> dict[str, str]:
    """One over-purchase; the delivery of each channel, once all are sent."""
    order = {"id": "everywhere", "shares": 10, "client": EVERYWHERE, "stock": "ACME"}
    over = {**order, "id": "everywhere-1", "initial order id": "everywhere", "shares": 11}
    system.post("gateway", "/v1/streams/trades/events", [order, over])
    system.wait_for(lambda: len(sent(system)) == len(system.channels), "not sent on every channel")
    return sent(system)


def test_one_over_purchase_reaches_the_desk_once_on_every_channel_there_is(
    system: System, ids: dict[str, str]
) -> None:
    assert ids.keys() == set(system.channels)
    system.wait_for(lambda: counted(system, ids) == expected(ids), "not at every far end, once")
    lines = (system.home / "deliveries.jsonl").read_text().splitlines()
    assert len([line for line in lines if ids["log"] in line]) == 1


def sent(system: System) -> dict[str, str]:
    """Return the delivery of each channel that was sent."""
    rows = system.ask(
        "SELECT channel, delivery_id FROM deliveries JOIN alerts USING (alert_id)"
        " WHERE alerts.record->'key'->>'order_id' = 'everywhere' AND state = ANY(%s)",
        DELIVERED,
    )
    return dict(rows)


def counted(system: System, ids: dict[str, str]) -> dict[str, int]:
    """Return how often each delivery came to its far end."""
    received = system.get("inbox", "/received")
    return {
        channel: received.get(way, {}).get("ids", {}).get(ids[channel], 0)
        for channel, way in WAYS.items()
        if channel in ids
    }


def expected(ids: dict[str, str]) -> dict[str, int]:
    return {channel: 1 for channel in WAYS if channel in ids}


def test_a_providers_callback_comes_back_by_the_door(system: System, ids: dict[str, str]) -> None:
    """The stand-in of Twilio calls the public door, which believes its signature."""
    question = "SELECT state FROM deliveries WHERE delivery_id = %s"
    system.wait_for(
        lambda: system.ask(question, ids["sms"]) == [("CONFIRMED",)],
        "no callback of the text message came",
    )


def test_a_link_in_a_message_acknowledges_the_alert(system: System, ids: dict[str, str]) -> None:
    question = "SELECT record->>'text', alert_id FROM deliveries WHERE delivery_id = %s"
    ((text, alert),) = system.ask(question, ids["sms"])
    link = re.search(r"http://\S+/acknowledge/\S+", text)
    assert link is not None, text
    assert httpx2.post(link[0], timeout=10).status_code == 200
    question = "SELECT via FROM acknowledgements WHERE alert_id = %s"
    assert system.ask(question, alert) == [("link",)]


def test_the_accountant_beats_while_it_accounts(system: System) -> None:
    def beats() -> int:
        return int(system.get("inbox_hook", "/beats").get("accountant", {}).get("count", 0))

    system.wait_for(lambda: beats() > 0, "the accountant does not beat")


def test_a_delivery_that_vanishes_is_raised_on_another_channel(
    system: System, ids: dict[str, str]
) -> None:
    gone = "DELETE FROM deliveries WHERE delivery_id = %s RETURNING delivery_id"
    assert system.ask(gone, ids["email"]) == [(ids["email"],)]
    told = (
        "SELECT deliveries.channel, state FROM deliveries JOIN findings ON raised_by = alert_id"
        " WHERE kind = 'missing_recipient' AND subject = %s"
    )
    system.wait_for(
        lambda: system.ask(told, ids["email"]) == [("bus", "SENT")],
        "the accountant tells nobody that a delivery is gone",
    )
