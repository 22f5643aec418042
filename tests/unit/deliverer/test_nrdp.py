"""What NRDP is posted, and what its answers mean."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from services.contracts.records import Severity
from services.deliverer.channel import Message
from services.deliverer.channels.nagios.wording import TEXT_LIMIT_BYTES, mark, result
from services.deliverer.channels.nrdp.channel import Answer, answer, answered, submission
from services.deliverer.outcomes import Accepted, Permanent, Refused, Unknown
from tests.unit.deliverer.builders import delivery

TAKEN = b'{"result":{"status":0,"message":"OK","meta":{"output":"1 checks processed"}}}'
XML = (
    b'<?xml version="1.0" encoding="utf-8"?>\n<result>\n  <status>-1</status>\n'
    b"  <message>NO DATA</message>\n</result>\n"
)


def submitted(recipient: str) -> dict[str, object]:
    one = delivery(1, "nrdp", recipient, Severity.CRITICAL, "two\nlines \\ and")
    (check,) = json.loads(submission(result(Message(one, 1), 1, 0, TEXT_LIMIT_BYTES)))[
        "checkresults"
    ]
    assert mark(one.delivery_id) in check["output"]
    assert "two\\nlines \\\\ and" in check["output"]
    assert "\n" not in check["output"]
    assert isinstance(check, dict)
    return check


def test_a_service_and_a_host_are_told_apart() -> None:
    service = submitted("h/s")
    assert service["checkresult"] == {"type": "service"}
    assert (service["hostname"], service["servicename"], service["state"]) == ("h", "s", "2")
    host = submitted("h")
    assert host["checkresult"] == {"type": "host"}
    assert "servicename" not in host
    assert host["state"] == "1"


def test_answers_of_new_and_old_servers_are_read() -> None:
    assert answer(TAKEN) == Answer(0, "OK")
    assert answer(XML) == Answer(-1, "NO DATA")
    assert answer(b'{"result":{"status":-1,"message":"BAD TOKEN"}}') == Answer(-1, "BAD TOKEN")
    assert answer(b"No command specified or request handler") is None


@given(st.binary(max_size=80) | st.text('{}[]":result status0-1,<>/', max_size=80).map(str.encode))
@example(b"<status>" + b"1" * 5000 + b"</status>")
def test_any_answer_is_read_or_none(body: bytes) -> None:
    found = answer(body)
    assert found is None or isinstance(found.status, int)


@pytest.mark.promise("permanent", "nrdp")
@pytest.mark.parametrize(
    ("status", "said", "kind"),
    [
        (200, Answer(0, "OK"), Accepted),
        (200, None, Unknown),
        (200, Answer(-1, "BAD JSON"), Permanent),
        (200, Answer(-1, "BAD TOKEN"), Refused),
        (200, Answer(-1, "NO CHECK RESULTS DIR"), Refused),
        (302, None, Refused),
        (401, None, Refused),
        (404, None, Refused),
        (408, None, Unknown),
        (429, None, Refused),
        (500, None, Unknown),
        (500, Answer(0, "OK"), Unknown),
        (502, None, Unknown),
        (503, None, Refused),
        (504, None, Unknown),
    ],
)
def test_answers_mean_what_nrdp_does(status: int, said: Answer | None, kind: type) -> None:
    assert isinstance(answered(status, said, None), kind)


def test_an_asked_wait_is_kept() -> None:
    outcome = answered(429, None, 17.0)
    assert isinstance(outcome, Refused)
    assert outcome.retry_after_seconds == 17
