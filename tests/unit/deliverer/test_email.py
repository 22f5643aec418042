"""Mails as they go over the wire, for any text."""

import re
from email import message_from_bytes
from email.policy import compat32, default

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.contracts.records import Delivery
from services.deliverer.channel import REPEAT_MARK, Message
from services.deliverer.channels.email.channel import answered, refused
from services.deliverer.channels.email.mail import composed
from services.deliverer.channels.email.settings import EmailSettings
from services.deliverer.outcomes import Accepted, Permanent, Refused, Unknown
from tests.unit.deliverer.builders import delivery

SETTINGS = EmailSettings(email_sender="watch@aldebaran.example")
texts = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=300)


def mail(subject: str = "too many", text: str = "ten seen", marked: bool = False) -> bytes:
    one = delivery(1, channel="email", recipient="desk@example.com")
    worded: Delivery = one.model_copy(update={"subject": subject, "text": text})
    return composed(Message(worded, 1, marked), SETTINGS)


@given(texts, texts)
def test_no_text_adds_a_header_or_ends_the_mail_early(subject: str, text: str) -> None:
    wire = mail(subject, text)
    lines = wire.split(b"\r\n")
    assert lines[-2:] == [b".", b""]
    assert all(line != b"." for line in lines[:-2])
    assert not re.search(rb"(?<!\r)\n|\r(?!\n)", wire)
    names = [name.lower() for name in message_from_bytes(wire)]
    assert len(names) == len(set(names))
    assert set(names) == {name.lower() for name in message_from_bytes(mail())}


@given(texts | texts.map("=?utf-8?q?{}?=".format))
def test_the_subject_arrives_as_it_was_but_for_its_spaces(subject: str) -> None:
    wire = mail(subject)
    assert all(len(line) <= 998 for line in wire.split(b"\r\n"))
    read = message_from_bytes(wire, policy=default)["Subject"]
    assert read.split() == re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", subject).split()


@given(st.integers(0, 110), st.integers(1, 9))
def test_headers_are_written_as_the_library_would(characters: int, of_each_word: int) -> None:
    subject = (("a" * of_each_word + " ") * 60)[:characters].strip()
    wire = mail(subject)
    assert message_from_bytes(wire, policy=compat32.clone(linesep="\r\n")).as_bytes() == wire


@given(texts)
def test_the_text_arrives_as_it_was(text: str) -> None:
    wire = mail(text=text)
    received = re.sub(rb"(?m)^\.", b"", wire.removesuffix(b".\r\n"))
    content = message_from_bytes(received, policy=default).get_content()
    assert content.splitlines() == (text + "\n").splitlines()


def test_the_same_delivery_is_the_same_mail_and_a_repeat_is_marked() -> None:
    assert mail() == mail()
    assert REPEAT_MARK.encode() in mail(marked=True)
    assert REPEAT_MARK.encode() not in mail()


@pytest.mark.parametrize("code", [421, 450, 451, 452])
def test_a_passing_refusal_is_not_taken(code: int) -> None:
    assert isinstance(answered(code, "later"), Refused)
    assert isinstance(refused(code, "later"), Refused)


def test_other_answers() -> None:
    assert answered(250, "queued as 1") == Accepted("queued as 1")
    assert isinstance(answered(550, "no"), Permanent)
    assert isinstance(answered(-1, "?"), Unknown)
    assert isinstance(refused(250, "what?"), Refused)
