"""Addresses of web servers: no name or password, which belong into settings of their own."""

import pytest
from pydantic import TypeAdapter, ValidationError

from services.backbone.web.links import LinkSettings
from services.callbacks.providers.twilio import TwilioSettings
from services.contracts.web import ServerAddress

ADDRESSES: TypeAdapter[str] = TypeAdapter(ServerAddress)


@pytest.mark.parametrize(
    "address",
    [
        "https://slack.com/api",
        "http://127.0.0.1:8080",
        "https://h/nrdp/",
        "https://h/~a@b/",
        "http://[::1]:1/",
        "https://my_own-.host.example./",
        "https://b\N{LATIN SMALL LETTER U WITH DIAERESIS}cher.example",
    ],
)
def test_a_plain_address_is_taken_as_it_is(address: str) -> None:
    assert ADDRESSES.validate_python(address) == address


@pytest.mark.parametrize(
    "address",
    [
        "",
        "slack.com/api",
        "ftp://h",
        "https://",
        "https://me:secret@h/nrdp/",
        "https://h/?t=1",
        "http://h h",
        "http://h:1808O",
        "http://h:70000/",
        "http://h:0",
        "https://:8443/api",
        "https://slack..com/api",
        "https://.slack.com/api",
        "https://\N{TWO DOT LEADER}.com/",
        f"https://{64 * 'a'}.com/",
    ],
)
def test_what_is_none_is_refused_with_what_it_must_look_like(address: str) -> None:
    with pytest.raises(ValidationError, match="without a name, password or query"):
        ADDRESSES.validate_python(address)


@pytest.mark.parametrize("kind", [LinkSettings, TwilioSettings])
@pytest.mark.parametrize(
    ("written", "read"), [("", ""), ("https://a.example/door/", "https://a.example/door")]
)
def test_one_setting_is_read_alike_by_all(
    kind: type[LinkSettings | TwilioSettings], written: str, read: str
) -> None:
    assert kind(callbacks_public_url=written).callbacks_public_url == read
