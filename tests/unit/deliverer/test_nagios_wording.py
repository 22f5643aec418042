"""What Nagios is told: escaped so that it reads back, cut where it hurts nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.contracts.recipients import complaint
from services.contracts.records import Severity
from services.deliverer.channel import Message
from services.deliverer.channels.nagios.command_file import LINE_LIMIT_BYTES, command
from services.deliverer.channels.nagios.wording import (
    TEXT_LIMIT_BYTES,
    Place,
    cut,
    mark,
    result,
    text,
)
from tests.unit.deliverer.builders import delivery

TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=300)
TRICKY = st.text("\\n\n\r|;#\t ü中x", max_size=300)


def as_nagios_reads(escaped: str) -> str:
    """Undo the escapes as Nagios does (unescape_check_result_output)."""
    read, position = [], 0
    while position < len(escaped):
        pair = escaped[position : position + 2]
        if pair in ("\\\\", "\\n"):
            read.append("\\" if pair == "\\\\" else "\n")
            position += 2
        else:
            read.append(escaped[position])
            position += 1
    return "".join(read)


@given(TEXTS | TRICKY)
def test_any_text_is_one_line_and_reads_back(words: str) -> None:
    one = delivery(1, channel="nagios", recipient="h/s", text=words)
    escaped = text(Message(one, 1))
    assert "\n" not in escaped
    assert "\r" not in escaped
    assert "|" not in escaped
    first, _, rest = as_nagios_reads(escaped).partition("\n")
    assert first == f"WARNING: {one.subject} {mark(one.delivery_id)}"
    kept = [letter for letter in words if letter.isalnum() or letter == "\\"]
    assert [letter for letter in rest if letter.isalnum() or letter == "\\"] == kept


@given(TEXTS | TRICKY, st.integers(0, 200))
def test_a_cut_text_is_the_beginning_of_the_whole(words: str, limit: int) -> None:
    escaped = text(Message(delivery(1, text=words), 1))
    short = cut(escaped, limit)
    assert len(short.encode()) <= limit
    assert escaped.startswith(short)
    assert as_nagios_reads(escaped).startswith(as_nagios_reads(short))


@pytest.mark.promise("our_id", "nagios")
def test_the_longest_message_keeps_its_id_in_either_way() -> None:
    long = delivery(1, recipient="h" * 100 + "/" + "s" * 154).model_copy(
        update={"subject": "\\" * 512, "text": "中" * 4096}
    )
    told = result(Message(long, 1), 1, at_ms=5000, limit_bytes=TEXT_LIMIT_BYTES)
    line = command(told)
    assert len(line) <= LINE_LIMIT_BYTES
    assert mark(long.delivery_id) in line.decode()
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1


@pytest.mark.parametrize(
    ("severity", "recipient", "state"),
    [
        (Severity.CRITICAL, "h/s", 2),
        (Severity.WARNING, "h/s", 1),
        (Severity.INFO, "h/s", 3),
        (Severity.CRITICAL, "h", 1),
        (Severity.INFO, "h", 1),
    ],
)
def test_states(severity: Severity, recipient: str, state: int) -> None:
    one = delivery(1, recipient=recipient, severity=severity)
    assert result(Message(one, 1), 3, 0, TEXT_LIMIT_BYTES).state == state


def test_a_repeat_is_marked_where_it_is_seen() -> None:
    marked = text(Message(delivery(1), 2, marked_repeat=True))
    assert marked.startswith("WARNING: [possible repeat] ")


def test_commands_are_those_of_nagios() -> None:
    one = delivery(1, recipient="h/s/t")
    service = command(result(Message(one, 1), 1, 5000, TEXT_LIMIT_BYTES)).decode()
    assert service.startswith("[5] PROCESS_SERVICE_CHECK_RESULT;h;s/t;1;WARNING: ")
    host = delivery(1, recipient="h")
    line = command(result(Message(host, 1), 1, 5000, TEXT_LIMIT_BYTES)).decode()
    assert line.startswith("[5] PROCESS_HOST_CHECK_RESULT;h;1;WARNING: ")


@given(st.text(max_size=300))
def test_what_is_no_complaint_is_a_place_that_reads_back(recipient: str) -> None:
    if complaint("nagios", recipient) is None:
        place = Place.of(recipient)
        assert str(place) == recipient
        assert place.host.strip()
        assert place.service is None or place.service.strip()
        assert ";" not in recipient
