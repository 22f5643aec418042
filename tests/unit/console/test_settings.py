"""What the console cannot work with is refused at the start, with the setting's name."""

import pytest
from pydantic import SecretStr, ValidationError

from services.backbone.settings import complaint
from services.console.settings import ConsoleSettings


@pytest.mark.parametrize("port_or_host", ["gateway:808O", "gateway:99999", "gateway:0", "[::1"])
def test_an_address_that_cannot_be_one_is_refused(port_or_host: str) -> None:
    with pytest.raises(ValidationError, match=r"console_parts\.gateway"):
        ConsoleSettings(console_parts={"gateway": f"http://{port_or_host}"})


@pytest.mark.parametrize("password", ["too short", "x" * 257])
def test_a_first_password_that_nobody_may_have_is_refused(password: str) -> None:
    with pytest.raises(ValidationError) as refused:
        ConsoleSettings(console_first_password=SecretStr(password))
    told = complaint(refused.value)
    assert "ALDEBARAN_CONSOLE_FIRST_PASSWORD: " in told
    assert "12 to 256 characters" in told
    assert password not in told


def test_what_works_is_taken() -> None:
    parts = {"gateway": "http://gateway:8080", "lookout": "http://[::1]:8081", "desk": "http://d"}
    password = SecretStr("long enough now")
    made = ConsoleSettings(console_parts=parts, console_first_password=password)
    assert made.console_parts == parts
    assert made.console_first_password == password
