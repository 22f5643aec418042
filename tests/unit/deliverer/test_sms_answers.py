"""What Twilio's answers and its list mean."""

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.contracts.twilio import body_code
from services.deliverer.channel import Absent, Doubt, Taken, Unclear, Undelivered
from services.deliverer.channels.sms.answers import Answer, answered
from services.deliverer.channels.sms.witness import LISTED_LIMIT, Absence, Listed, judge
from services.deliverer.outcomes import Accepted, Outcome, Permanent, Refused, Unknown
from tests.unit.deliverer.builders import delivery

NOW_MS = 1_795_253_400_000
ONE = delivery(1, channel="sms", recipient="+41791234567")
DOUBT = Doubt(ONE, attempt=2, claimed_at_ms=NOW_MS, lease_over_at_ms=NOW_MS + 60_000)
TEXT = f"ten seen\n{body_code(ONE.delivery_id)}"


def outcome(http_status: int, headers: Mapping[str, str] | None = None, **body: object) -> Outcome:
    return answered(Answer(http_status, headers or {}, json.dumps(body)), NOW_MS)


@pytest.mark.promise("permanent", "sms")
@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, 21211, Permanent),
        (400, 21610, Permanent),
        (400, 21614, Permanent),
        (403, 21408, Permanent),
        (400, 99999, Permanent),
        (401, 20003, Refused),
        (403, 20003, Refused),
        (401, 20006, Refused),
        (401, 99999, Refused),
        (403, 20403, Refused),
        (403, 20006, Refused),
        (403, 70051, Refused),
        (403, 99999, Permanent),
        (404, 20404, Refused),
        (400, 21606, Refused),
        (400, 21609, Refused),
        (429, 20429, Refused),
        (400, 20429, Refused),
        (429, 21611, Refused),
        (408, 20408, Unknown),
        (409, 20409, Unknown),
        (500, 20500, Unknown),
        (502, 0, Unknown),
        (503, 20503, Unknown),
        (307, 0, Unknown),
    ],
)
def test_refusals_mean_what_twilio_documents(status: int, code: int, kind: type) -> None:
    found = outcome(status, code=code, message="says why", status=status)
    assert isinstance(found, kind)
    assert f"{status}, code {code or 'none'}: says why" in repr(found)


@pytest.mark.promise("not_taken", "sms")
def test_a_fault_of_our_settings_waits_and_says_what_to_change() -> None:
    found = outcome(401, code=20003, message="Authenticate")
    assert isinstance(found, Refused)
    assert found.destination_down
    assert "sms_auth_token" in found.reason
    by_a_proxy = answered(Answer(403, {}, "<html>no</html>"), NOW_MS)
    assert isinstance(by_a_proxy, Refused)


def test_retry_after_is_honoured() -> None:
    found = outcome(429, {"retry-after": "7"}, code=20429)
    assert isinstance(found, Refused)
    assert found.retry_after_seconds == 7
    assert not found.destination_down
    unsaid = outcome(429, code=20429)
    assert isinstance(unsaid, Refused)
    assert unsaid.retry_after_seconds == 1


def test_a_created_message_is_accepted_with_its_sid() -> None:
    assert outcome(201, sid="SM1", status="queued") == Accepted("SM1")
    lost = outcome(201, sid="SM1", status="failed", error_code=30006)
    assert isinstance(lost, Permanent)
    assert "landline" in lost.reason


@pytest.mark.promise("taken_when", "sms")
@given(st.integers(100, 599), st.text(max_size=200))
def test_without_a_sid_nothing_is_an_acceptance(status: int, text: str) -> None:
    found = answered(Answer(status, {}, text), NOW_MS)
    assert not isinstance(found, Accepted)
    assert isinstance(found, Unknown) or not 200 <= status < 300


def test_a_listed_message_with_the_code_was_taken() -> None:
    other = Listed("SM0", "another", "sent", NOW_MS)
    mine = Listed("SM1", TEXT, "queued", NOW_MS)
    found = judge(DOUBT, [other, mine], NOW_MS, None)
    assert found == Taken("SM1", "listed as SM1: Twilio says queued")


@pytest.mark.parametrize("status", ["failed", "undelivered", "canceled"])
def test_a_listed_message_that_was_given_up_was_not_delivered(status: str) -> None:
    found = judge(DOUBT, [Listed("SM1", TEXT, status, NOW_MS, "30005")], NOW_MS, None)
    assert isinstance(found, Undelivered)
    assert "unknown or no longer used" in found.detail


def test_an_older_message_with_the_code_is_of_another_try() -> None:
    older = Listed("SM0", TEXT, "failed", NOW_MS - 600_000)
    assert isinstance(judge(DOUBT, [older], NOW_MS, None), Unclear)


@pytest.mark.parametrize("after_seconds", [0, 659, 660, 10_000])
def test_absence_is_proof_only_by_a_setting_and_late_enough(after_seconds: int) -> None:
    now_ms = DOUBT.claimed_at_ms + after_seconds * 1000
    assert isinstance(judge(DOUBT, [], now_ms, None), Unclear)
    proof = judge(DOUBT, [], now_ms, Absence(proof_seconds=30, validity_seconds=600))
    assert isinstance(proof, Absent) == (after_seconds >= 660)


def test_a_list_that_was_not_read_whole_proves_no_absence() -> None:
    many = [Listed(f"SM{n}", "another", "sent", NOW_MS) for n in range(LISTED_LIMIT)]
    found = judge(DOUBT, many, NOW_MS + 10**9, Absence(proof_seconds=1, validity_seconds=1))
    assert isinstance(found, Unclear)
