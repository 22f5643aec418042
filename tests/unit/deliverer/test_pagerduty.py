"""What PagerDuty's answers mean, and what an event carries."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.contracts import recipients
from services.deliverer.channel import Message
from services.deliverer.channels.pagerduty import EVENT_LIMIT_BYTES, answered, event
from services.deliverer.outcomes import Accepted, Permanent, Refused, Unknown
from services.simulator.inbox.providers.pagerduty import wrong
from tests.unit.deliverer.builders import delivery

KEY = "0123456789abcdef0123456789abcdef"
Json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=50),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=20), inner),
    max_leaves=8,
)


@pytest.mark.promise("in_doubt", "pagerduty")
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (202, Accepted),
        (200, Unknown),
        (302, Permanent),
        (400, Permanent),
        (403, Permanent),
        (408, Unknown),
        (429, Refused),
        (500, Unknown),
        (502, Unknown),
        (503, Refused),
    ],
)
def test_statuses_mean_what_the_documentation_says(status: int, kind: type) -> None:
    assert isinstance(answered(status, {}, None), kind)


@pytest.mark.promise("taken_when", "pagerduty")
@given(st.integers(100, 999), st.dictionaries(st.text(max_size=20), Json))
def test_any_answer_is_sorted_and_only_a_success_is_an_acceptance(
    status: int, said: dict[str, object]
) -> None:
    assert isinstance(answered(status, said, None), Accepted) == (status == 202)


def test_what_pagerduty_found_wrong_is_told() -> None:
    outcome = answered(400, {"message": "invalid", "errors": ["no summary", "no source"]}, None)
    assert outcome == Permanent("PagerDuty answered 400: invalid; no summary; no source")


@given(st.dictionaries(st.text(max_size=20), Json, max_size=8), st.text(max_size=512))
def test_any_alert_makes_a_valid_event_with_exact_numbers(
    values: dict[str, object], subject: str
) -> None:
    one = delivery(1, "pagerduty", "on-call")
    alert = one.alert.model_copy(update={"values": values})
    message = Message(one.model_copy(update={"alert": alert, "subject": subject}), attempt=1)
    content = event(message, KEY, "https://console/{alert_id}")
    assert len(content) <= EVENT_LIMIT_BYTES
    found = json.loads(content)
    assert not wrong(found)
    assert found["dedup_key"] == one.delivery_id
    assert found["payload"]["custom_details"]["values"] == values
    assert found["links"][0]["href"] == f"https://console/{alert.alert_id}"


def test_a_key_is_no_recipient_and_a_name_is() -> None:
    assert "secret" in str(recipients.complaint("pagerduty", KEY))
    assert recipients.complaint("pagerduty", "On call")
    assert recipients.complaint("pagerduty", "on-call") is None
