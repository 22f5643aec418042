"""What a relay's log says of a doubt: on a log that a real Postfix wrote, and on made-up ones.

`postfix.log` was written by Postfix 3.7.11 as tests/integration/postfix.py starts it: one mail was
taken by the next server, one bounced, one deferred, one lost before its dot.
"""

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from services.deliverer.channel import Absent, Doubt, Finding, Taken, Unclear, Undelivered
from services.deliverer.channels.email.relay_log import Logged, read, stamp_ms, tail
from services.deliverer.channels.email.witness import judged
from tests.seen import Seen
from tests.unit.deliverer.builders import delivery

RECORDED = Path(__file__).with_name("postfix.log").read_bytes().splitlines(keepends=True)
DOMAIN = "localhost.localdomain"
ID = "0123456789abcdef0123456789abcdef"
ONE = delivery(1, channel="email").model_copy(update={"delivery_id": ID})
LOGGED_AT = datetime(2026, 11, 21, 16, 12, 19, tzinfo=UTC)
NOW_MS = int(LOGGED_AT.timestamp() * 1000) + 3_600_000
ABSENCE = 360.0
TIMES = st.from_regex(rb"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d) x\Z")
"""Of moments that there are, mostly, not."""


@pytest.fixture(autouse=True)
def utc() -> Iterator[None]:
    """The zone in which the log was recorded."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = "UTC"
    time.tzset()
    yield
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()


def doubt(attempt: int = 1, claimed_ms: int = NOW_MS - 3_610_000) -> Doubt:
    return Doubt(ONE, attempt, claimed_ms, claimed_ms + 20_000)


def only(*words: str) -> list[bytes]:
    return [line for line in RECORDED if any(word.encode() in line for word in words)]


def found(lines: list[bytes], of: Doubt, absence: float | None = ABSENCE) -> Finding:
    logged = read(lines, f"<{ID}@{DOMAIN}>", DOMAIN, NOW_MS)
    return judged(logged, of, NOW_MS, absence)


def test_what_the_next_server_took_was_taken_and_its_answer_is_told() -> None:
    taken = found(only("2FAC6A6C768"), doubt())
    assert isinstance(taken, Taken)
    assert taken.provider_id == "2FAC6A6C768"
    assert "sent to desk@example.com (2.0.0: 250 2.0.0 kept as 42)" in taken.detail


def test_what_bounced_is_undelivered_with_the_far_ends_words() -> None:
    lost = found(only("32C87A6C76A"), doubt())
    assert isinstance(lost, Undelivered)
    assert "5.1.1" in lost.detail
    assert "no such user" in lost.detail


def test_what_waits_in_the_queue_is_taken() -> None:
    waiting = found(only("3388FA6C76B"), doubt())
    assert isinstance(waiting, Taken)
    assert "deferred" in waiting.detail


def test_a_mail_that_was_cut_off_before_its_dot_is_neither_taken_nor_proven_absent() -> None:
    cut = [line.replace(b"<abc@x>", f"<{ID}@{DOMAIN}>".encode()) for line in only("3568AA6C768")]
    assert isinstance(found(cut, doubt()), Unclear)


def test_a_repeat_is_not_proven_by_the_first_try() -> None:
    later = doubt(attempt=2, claimed_ms=NOW_MS - 60_000)
    assert isinstance(found(only("2FAC6A6C768"), later), Unclear)


def test_a_filter_that_hands_it_back_is_no_end() -> None:
    first = [line.replace(b"kept as 42", b"queued as 32C87A6C76A") for line in only("2FAC6A6C768")]
    assert isinstance(found(first + only("32C87A6C76A"), doubt()), Undelivered)


def test_both_forms_of_time_are_read() -> None:
    at_ms = int(LOGGED_AT.timestamp() * 1000)
    assert stamp_ms(b"Nov 21 16:12:19 relay x", NOW_MS) == at_ms
    assert stamp_ms(b"2026-11-21T17:12:19.250000+01:00 relay x", NOW_MS) == at_ms + 250
    assert stamp_ms(b"2026-11-21T16:12:19Z relay x", NOW_MS) == at_ms
    assert stamp_ms(b"once upon a time", NOW_MS) is None
    new_year = int(datetime(2027, 1, 1, 0, 10, tzinfo=UTC).timestamp() * 1000)
    assert stamp_ms(b"Dec 31 23:59:59 relay x", new_year) == new_year - 601_000


@given(st.lists(st.binary(max_size=80) | TIMES))
@example([b"2026-11-21T16:12:60Z relay x"])
def test_any_bytes_are_read_or_passed_over(lines: list[bytes]) -> None:
    read([line + b"\n" for line in lines], f"<{ID}@{DOMAIN}>", DOMAIN, NOW_MS)


@given(st.binary(max_size=400), st.binary(max_size=400), st.integers(1, 1000))
def test_the_tail_is_whole_lines_of_the_end(
    tmp_path_factory: pytest.TempPathFactory, older: bytes, newer: bytes, limit: int
) -> None:
    file = tmp_path_factory.mktemp("log") / "mail.log"
    file.write_bytes(newer)
    file.with_name("mail.log.1").write_bytes(older)
    lines = list(tail(file, limit))
    whole = [line for part in (older, newer) for line in part.split(b"\n")[:-1]]
    assert [line.removesuffix(b"\n") for line in lines] == whole[len(whole) - len(lines) :]
    assert sum(map(len, lines)) <= limit


EDGES = st.sampled_from([-3000, -31, -30, -29, 0, 6, 19, 20, 21]) | st.integers(-3000, 3000)
OWN = st.lists(st.tuples(EDGES, st.sampled_from(["begun", "taken"])), max_size=1)
OTHERS = st.lists(st.tuples(EDGES, st.sampled_from(["ours", "other"])), max_size=6)
LOGGED_LATE = (3000, "ours")
SEEN = Seen()


@SEEN.must_be(Absent, Taken, Unclear)
@given(OWN, OTHERS, EDGES, st.sampled_from([1, 2]))
@settings(max_examples=200)
def test_absence_is_never_said_of_what_was_taken_and_taken_never_of_what_was_not(
    own: list[tuple[int, str]], others: list[tuple[int, str]], log_begins: int, attempt: int
) -> None:
    """The try is claimed at second 0; its lease ends at 20; all is asked at 3600."""
    start = LOGGED_AT
    lines: list[bytes] = []
    for number, (second, kind) in enumerate(sorted([*own, *others, LOGGED_LATE])):
        if second >= log_begins:
            lines += written(start + timedelta(seconds=second), kind, f"A{number:05d}")
    claimed_ms = int(start.timestamp() * 1000)
    finding = found(lines, Doubt(ONE, attempt, claimed_ms, claimed_ms + 20_000))
    SEEN.add(type(finding))
    if isinstance(finding, Absent):
        assert not [second for second, _ in own if second >= -30], "what is begun may be taken"
        assert log_begins <= -30
    elif isinstance(finding, Taken):
        assert [kind for second, kind in own if attempt == 1 or second >= -30] == ["taken"]


def written(at: datetime, kind: str, queue_id: str) -> list[bytes]:
    name = {"ours": "f" * 32, "other": "somebody"}.get(kind, ID)
    begun = f"{at.isoformat()} relay postfix/cleanup[7]: {queue_id}: message-id=<{name}@{DOMAIN}>\n"
    whole = (
        f"{at.isoformat()} relay postfix/qmgr[8]: {queue_id}: from=<a>, nrcpt=1 (queue active)\n"
    )
    return [begun.encode()] if kind == "begun" else [begun.encode(), whole.encode()]


@pytest.mark.promise("evidence", "email")
def test_absence_is_proven_at_last_and_only_by_a_log_that_would_tell() -> None:
    claimed_ms = int(LOGGED_AT.timestamp() * 1000) + 100_000
    of = doubt(claimed_ms=claimed_ms)
    alive = f"{datetime.fromtimestamp(NOW_MS / 1000, UTC).isoformat()} relay postfix/smtpd[1]: x\n"
    others = [line.replace(ID.encode(), b"f" * 32) for line in only("2FAC6A6C768")]
    whole = [*others, alive.encode()]
    assert isinstance(found(whole, of), Absent)
    assert isinstance(found(whole, of, absence=None), Unclear)
    assert isinstance(found(whole, of, absence=4000.0), Unclear)
    assert "go back" in unclear([alive.encode()], of)
    assert "stand still" in unclear(others, of)
    strangers = [line.replace(b"f" * 32, b"somebody") for line in whole]
    assert "no mail of ours" in unclear(strangers, of)


def unclear(lines: list[bytes], of: Doubt) -> str:
    finding = found(lines, of)
    assert isinstance(finding, Unclear)
    return finding.detail


def test_an_empty_log_says_nothing() -> None:
    assert read([], f"<{ID}@{DOMAIN}>", DOMAIN, NOW_MS) == Logged()
