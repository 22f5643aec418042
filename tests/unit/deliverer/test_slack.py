"""What Slack's answers mean, how a message is found again, and whose turn it is."""

from heapq import heappop, heappush
from itertools import pairwise
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.contracts import recipients
from services.deliverer.channel import Message
from services.deliverer.channels.slack.answers import answered
from services.deliverer.channels.slack.message import body, next_cursor, timestamp_of
from services.deliverer.channels.slack.pace import Pace
from services.deliverer.outcomes import Accepted, Permanent, Refused, Unknown
from tests.unit.deliverer.builders import delivery

CONVERSATION = "C0123456789"
Json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=20), inner),
    max_leaves=8,
)


@pytest.mark.promise("permanent", "slack")
@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("channel_not_found", Permanent),
        ("not_in_channel", Permanent),
        ("is_archived", Permanent),
        ("msg_too_long", Permanent),
        ("something_new", Permanent),
        ("ratelimited", Refused),
        ("rate_limited", Refused),
        ("request_timeout", Refused),
        ("invalid_auth", Refused),
        ("missing_scope", Refused),
        ("accesslimited", Refused),
        ("org_login_required", Refused),
        ("team_added_to_org", Refused),
        ("token_revoked", Refused),
        ("fatal_error", Unknown),
        ("internal_error", Unknown),
        ("service_unavailable", Unknown),
    ],
)
def test_errors_mean_what_slack_documents(error: str, kind: type) -> None:
    assert isinstance(answered(200, {"ok": False, "error": error}, None), kind)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (200, Unknown),
        (302, Permanent),
        (404, Permanent),
        (403, Refused),
        (408, Unknown),
        (429, Refused),
        (500, Unknown),
        (503, Unknown),
    ],
)
def test_statuses_without_slacks_words_prove_little(status: int, kind: type) -> None:
    assert isinstance(answered(status, {}, None), kind)


@pytest.mark.promise("taken_when", "slack")
@given(st.integers(100, 599), st.dictionaries(st.sampled_from(["ok", "error", "ts"]), Json))
def test_only_slacks_ok_is_an_acceptance(status: int, said: dict[str, object]) -> None:
    outcome = answered(status, said, None)
    assert isinstance(outcome, Accepted) == (status == 200 and said.get("ok") is True)


def test_what_can_be_put_right_is_told() -> None:
    outcome = answered(200, {"ok": False, "error": "not_in_channel"}, None)
    assert isinstance(outcome, Permanent)
    assert "invite the bot" in outcome.reason
    refused = answered(200, {"ok": False, "error": "invalid_auth"}, None)
    assert isinstance(refused, Refused)
    assert refused.destination_down
    assert "slack_bot_token" in refused.reason
    moving = answered(200, {"ok": False, "error": "team_added_to_org"}, None)
    assert isinstance(moving, Refused)
    assert moving.destination_down
    assert "by itself" in moving.reason


@pytest.mark.promise("our_id", "slack")
@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=4096))
def test_any_text_is_found_again_by_text_and_by_metadata(text: str) -> None:
    one, other = (delivery(n, "slack", CONVERSATION, text=text) for n in range(2))
    posted = body(Message(one, attempt=1), CONVERSATION)
    assert len(posted["text"]) < 40_000
    assert "<!channel>" not in posted["text"]
    by_text = {"ts": "1.2", "text": posted["text"]}
    by_metadata = {"ts": "1.3", "metadata": posted["metadata"]}
    assert timestamp_of([by_text], one.delivery_id) == "1.2"
    assert timestamp_of([by_metadata], one.delivery_id) == "1.3"
    assert timestamp_of([by_text, by_metadata], other.delivery_id) is None


@given(st.lists(Json, max_size=4))
def test_any_history_is_searched_without_harm(messages: list[object]) -> None:
    assert timestamp_of(messages, "a" * 32) is None


@given(st.fixed_dictionaries({}, optional={"response_metadata": Json}))
def test_any_page_of_the_history_has_a_next_one_or_none(page: dict[str, object]) -> None:
    assert isinstance(next_cursor(page), str)
    assert next_cursor({"response_metadata": {"next_cursor": "bmV4dA=="}}) == "bmV4dA=="


@given(st.lists(st.tuples(st.sampled_from("AB"), st.floats(0, 5), st.booleans()), max_size=60))
def test_turns_of_a_conversation_keep_their_distance(
    asked: list[tuple[str, float, bool]],
) -> None:
    pace, now = Pace(1.0), 100.0
    turns: dict[str, list[float]] = {"A": [], "B": []}
    again: dict[str, list[float]] = {"A": [], "B": []}
    for conversation, later, came_before in asked:
        now += later / 4
        given_, wait = pace.turn(conversation, now, 3, came_before)
        assert 0 <= wait <= 3 or not given_
        (turns if given_ else again)[conversation].append(now + wait)
    for times in (*turns.values(), *again.values()):
        assert all(late - early >= 0.999 for early, late in pairwise(times))


def test_in_a_long_burst_each_waits_for_its_turn_and_comes_again_once_or_twice() -> None:
    """For ten minutes 1.2 messages a second: 120 wait at the end, and the last one for 120 s."""
    pace, sent = Pace(1.0), {}
    coming = [(number / 1.2, number, 0) for number in range(720)]
    while coming:
        now, number, times = heappop(coming)
        given_, wait = pace.turn("A", now, 9.0, times > 0)
        if given_:
            sent[number] = (now + wait - number / 1.2, times)
        else:
            heappush(coming, (ceil(now + wait), number, times + 1))  # found by the next look
    assert len(sent) == 720
    assert max(waited for waited, _ in sent.values()) < 130
    assert max(times for _, times in sent.values()) <= 2


def test_a_recipient_is_a_conversation_id_or_a_name() -> None:
    assert recipients.complaint("slack", CONVERSATION) is None
    assert recipients.complaint("slack", "on-call") is None
    assert "id" in str(recipients.complaint("slack", "#on-call"))
