"""What goes to Apple, what its answers mean, and when a token is signed anew or dropped."""

import json
import uuid
from datetime import UTC, datetime
from itertools import pairwise

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from h2.errors import ErrorCodes
from h2.events import ConnectionTerminated, StreamReset
from hypothesis import given
from hypothesis import strategies as st

from services.backbone.clock import ManualClock
from services.contracts import recipients
from services.contracts.records import Severity
from services.deliverer.channel import REPEAT_NOTE, Message, SendWindow
from services.deliverer.channels.push.answers import answered, asks_for_renewal, unanswered
from services.deliverer.channels.push.credential import (
    EARLY_AFTER_MS,
    RENEW_AFTER_MS,
    Credential,
)
from services.deliverer.channels.push.devices import Device, dropped
from services.deliverer.channels.push.notification import (
    PAYLOAD_LIMIT_BYTES,
    apns_id,
    fitted,
    headers,
    payload,
)
from services.deliverer.channels.push.stream import Stream
from services.deliverer.outcomes import Accepted, Permanent, Refused, Unknown
from services.simulator.inbox.apns.account import made_up
from services.simulator.inbox.apns.rules import Push, Wrong, judge
from tests.unit.deliverer.builders import delivery

NOW_MS = 1_795_253_400_000
TOKEN = "ab" * 32
Json: st.SearchStrategy[object] = st.one_of(
    st.none(), st.integers(), st.text(max_size=9), st.lists(st.none()), st.just({})
)
Texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=4096)
Ids = st.integers(0, 2**128 - 1).map(lambda number: f"{number:032x}")


@pytest.fixture(scope="module")
def key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def signed_at(token: str) -> int:
    found = jwt.decode(token, options={"verify_signature": False})["iat"]
    assert isinstance(found, int)
    return found * 1000


@given(st.lists(st.integers(0, 90 * 60), min_size=1, max_size=30))
def test_a_credential_is_never_old_and_never_renewed_too_often(steps: list[int]) -> None:
    credential = Credential(ec.generate_private_key(ec.SECP256R1()), "K", "T")
    now_ms, signings = NOW_MS, []
    for seconds in steps:
        now_ms += seconds * 1000
        made_ms = signed_at(credential.at(now_ms))
        assert now_ms - made_ms < 60 * 60 * 1000
        signings.append(made_ms)
    made = sorted(set(signings))
    assert all(late - early >= EARLY_AFTER_MS for early, late in pairwise(made))


def test_a_rejected_credential_is_signed_anew_once_in_twenty_minutes(
    key: ec.EllipticCurvePrivateKey,
) -> None:
    credential = Credential(key, "K", "T")
    first = credential.at(NOW_MS)
    assert credential.rejected(first, NOW_MS + 1)
    second = credential.at(NOW_MS + 1)
    assert second != first
    assert credential.rejected(first, NOW_MS + 2), "it was replaced meanwhile"
    assert credential.at(NOW_MS + 2) == second
    assert not credential.rejected(second, NOW_MS + 3)
    assert credential.rejected(second, NOW_MS + 1 + EARLY_AFTER_MS)


def test_a_clock_set_back_signs_anew(key: ec.EllipticCurvePrivateKey) -> None:
    credential = Credential(key, "K", "T")
    first = credential.at(NOW_MS + 10 * RENEW_AFTER_MS)
    assert signed_at(credential.at(NOW_MS)) == NOW_MS
    assert credential.at(NOW_MS) != first


@given(Texts, st.text(max_size=512), st.sampled_from(Severity))
def test_any_text_makes_a_whole_payload_within_the_limit(
    text: str, subject: str, severity: Severity
) -> None:
    one = delivery(1, "push", TOKEN, severity, text)
    content = payload(Message(one.model_copy(update={"subject": subject}), attempt=1))
    assert len(content) <= PAYLOAD_LIMIT_BYTES
    body = json.loads(content)["aps"]["alert"]["body"]
    assert body == text or text.startswith(body.removesuffix("…"))


def test_a_repeat_of_the_longest_text_ends_with_its_link() -> None:
    link = "\nacknowledge: https://alerts.example.com/acknowledge/2026a." + "x" * 50
    one = delivery(1, "push", TOKEN, text="x" * (4096 - len(link)) + link)
    again = Message(one, attempt=2, marked_repeat=True)
    assert len(again.worded.text) == 4096
    assert again.worded.text.startswith(f"{REPEAT_NOTE}\n\nxxx")
    assert again.worded.text.endswith(f"…{link}")
    content = payload(again)
    assert PAYLOAD_LIMIT_BYTES - 8 <= len(content) <= PAYLOAD_LIMIT_BYTES
    assert json.loads(content)["aps"]["alert"]["body"].endswith(f"…{link}")


@given(st.text(max_size=200), st.integers(3, 300))
def test_a_text_is_cut_as_little_as_possible(text: str, limit: int) -> None:
    def fits(part: str) -> bool:
        return len(part.encode()) <= limit

    found = fitted(text, fits)
    assert fits(found)
    assert found == text or not fits(text[: len(found)] + "…")


@pytest.mark.promise("our_id", "push")
@given(Ids)
def test_ids_are_stable_and_what_apple_takes(delivery_id: str) -> None:
    made = apns_id(delivery_id)
    assert made == apns_id(delivery_id)
    assert str(uuid.UUID(made)) == made
    assert made.replace("-", "")[17:] == delivery_id[17:]


def test_the_stand_in_takes_what_we_make_and_refuses_what_apple_would(
    key: ec.EllipticCurvePrivateKey,
) -> None:
    account = made_up(NOW_MS)
    one = delivery(1, "push", TOKEN)
    signed = jwt.encode(
        {"iss": account.team_id, "iat": NOW_MS // 1000},
        account.signing_key,
        algorithm="ES256",
        headers={"kid": account.key_id},
    )
    asked = headers(one, account.topic, NOW_MS // 1000) | {
        ":method": "POST",
        ":path": f"/3/device/{TOKEN}",
        "authorization": f"bearer {signed}",
    }
    content = payload(Message(one, attempt=1))
    pushed = judge(asked, content, account, NOW_MS)
    assert isinstance(pushed, Push)
    assert pushed.collapse_id == one.delivery_id
    for change, status in {
        (":method", "GET"): 405,
        (":path", "/3/device/phone"): 404,
        ("authorization", "bearer x"): 403,
        ("apns-topic", "another"): 400,
        ("apns-collapse-id", "x" * 65): 400,
        ("apns-id", "1"): 400,
    }.items():
        found = judge(asked | dict([change]), content, account, NOW_MS)
        assert isinstance(found, Wrong)
        assert found.status == status
    assert judge(asked, content + b" " * 4096, account, NOW_MS) == Wrong(413, "PayloadTooLarge")
    late = judge(asked, content, account, NOW_MS + 2 * 60 * 60 * 1000)
    assert late == Wrong(403, "ExpiredProviderToken")


@pytest.mark.promise("permanent", "push")
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (200, Accepted),
        (301, Permanent),
        (400, Permanent),
        (403, Refused),
        (404, Permanent),
        (405, Permanent),
        (408, Unknown),
        (410, Permanent),
        (413, Permanent),
        (429, Refused),
        (500, Refused),
        (502, Unknown),
        (503, Refused),
    ],
)
def test_statuses_mean_what_apple_documents(status: int, kind: type) -> None:
    assert isinstance(answered(status, {}, "", None), kind)


def test_a_failed_authentication_says_what_to_check() -> None:
    outcome = answered(403, {"reason": "BadCertificate"}, "", None)
    assert isinstance(outcome, Refused)
    assert "push_key_id" in outcome.reason


@given(st.sampled_from([400, 403, 410]), Json)
def test_only_a_403_that_names_the_token_asks_for_another(status: int, reason: object) -> None:
    assert not asks_for_renewal(status, {"reason": reason})
    assert asks_for_renewal(status, {"reason": "ExpiredProviderToken"}) == (status == 403)


def ended(last_stream_id: int) -> ConnectionTerminated:
    event = ConnectionTerminated()
    event.last_stream_id = last_stream_id
    return event


def reset(code: ErrorCodes) -> StreamReset:
    return StreamReset(stream_id=5, error_code=code)


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        (ended(0), Refused),
        (ended(3), Refused),
        (ended(5), Unknown),
        (ended(2**31 - 1), Unknown),
        (reset(ErrorCodes.REFUSED_STREAM), Refused),
        (reset(ErrorCodes.INTERNAL_ERROR), Unknown),
        (None, Unknown),
    ],
)
def test_only_a_stream_that_was_never_looked_at_is_provably_not_taken(
    event: object, kind: type
) -> None:
    clock = ManualClock()
    window = SendWindow(clock, clock.monotonic_seconds() + 1)
    window.open()
    stream = Stream(window)
    stream.id = 5
    error = httpx2.RemoteProtocolError("ended")
    error.__cause__ = Exception(event)
    assert isinstance(unanswered(error, window, stream), kind)
    assert isinstance(unanswered(httpx2.ConnectError("no"), window, stream), Refused)


async def test_a_request_whose_headers_did_not_get_out_was_not_taken() -> None:
    clock = ManualClock()
    window = SendWindow(clock, clock.monotonic_seconds() + 1)
    stream, error = Stream(window), httpx2.WriteError("closed")
    await stream.trace("http2.send_request_headers.started", {"stream_id": 7})
    await stream.trace("http2.send_request_headers.failed", {})
    assert (window.opened, stream.id) == (True, 7)
    assert isinstance(unanswered(error, window, stream), Refused)
    await stream.trace("http2.send_request_headers.started", {"stream_id": 1})
    assert isinstance(unanswered(error, window, stream), Unknown)


@given(st.integers(1, NOW_MS), st.integers(1, NOW_MS))
def test_a_token_registered_after_apples_word_is_good(since_ms: int, registered_ms: int) -> None:
    device = Device("phone", TOKEN, datetime.fromtimestamp(registered_ms / 1000, UTC))
    word = dropped(device, {"timestamp": since_ms}, NOW_MS)
    assert device.outlives(word) == (registered_ms > since_ms)
    assert not Device("phone", TOKEN, None).outlives(word)
    assert TOKEN not in repr(word)


@pytest.mark.parametrize("stamp", [None, "soon", -1, NOW_MS + 1, 2**80])
def test_without_a_usable_time_a_token_is_dropped_from_now_on(stamp: object) -> None:
    assert dropped(Device("p", TOKEN, None), {"timestamp": stamp}, NOW_MS).dropped_at_ms == NOW_MS


def test_a_recipient_is_a_token_or_a_name() -> None:
    assert recipients.complaint("push", TOKEN) is None
    assert recipients.complaint("push", "on-call") is None
    assert recipients.complaint("push", "Not a phone")
