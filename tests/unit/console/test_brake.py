"""Who guesses a name waits; its owner, who is elsewhere, hardly does."""

import pytest

from services.backbone.clock import ManualClock
from services.backbone.web.problems import Problem
from services.console.people.brake import NAME_LIMIT_SECONDS, Brake, by_name


def wait(brake: Brake, name: str, address: str) -> int:
    """Return the seconds that somebody is told to wait."""
    try:
        brake.check(by_name(name, address))
    except Problem as problem:
        return int(problem.headers["Retry-After"]) - 1
    return 0


def guess(brake: Brake, clock: ManualClock, address: str, times: int) -> None:
    """Guess as quickly as it may be done."""
    for _ in range(times):
        clock.move(wait(brake, "admin", address))
        brake.failed(by_name("admin", address))


def test_a_stranger_keeps_nobody_out() -> None:
    clock = ManualClock()
    brake = Brake(clock)
    guess(brake, clock, "203.0.113.9", 20)
    assert wait(brake, "admin", "203.0.113.9") == 900
    assert wait(brake, "admin", "203.0.113.77") == 900
    assert wait(brake, "admin", "198.51.100.7") == NAME_LIMIT_SECONDS
    clock.move(NAME_LIMIT_SECONDS)
    assert wait(brake, "admin", "198.51.100.7") == 0
    assert wait(brake, "admin", "203.0.113.9") == 900 - NAME_LIMIT_SECONDS


def test_guessing_a_name_from_many_networks_stays_slow() -> None:
    clock = ManualClock()
    brake = Brake(clock)
    guess(brake, clock, "203.0.113.9", 9)
    for number in range(100):
        address = f"10.0.{number}.1"
        assert wait(brake, "admin", address) == NAME_LIMIT_SECONDS
        # Staying away for as long again makes no further guess cheap.
        clock.move(NAME_LIMIT_SECONDS * (1 + number % 3))
        brake.failed(by_name("admin", address))


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("192.0.2.1", "192.0.2.254", True),
        ("192.0.2.1", "192.0.3.1", False),
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::1", "0.0.0.1", False),
        ("::ffff:192.0.2.1", "192.0.2.9", True),
        ("::ffff:192.0.2.1", "::ffff:198.51.100.1", False),
        ("fe80::1%eth0", "fe80::2%eth0", True),
        ("unix:", "unix:", True),
        ("testclient", "", False),
    ],
)
def test_a_network_is_one_guesser(one: str, other: str, is_same: bool) -> None:
    assert (by_name("ann", one)[1] == by_name("ann", other)[1]) is is_same


def test_a_name_that_is_spelled_like_a_network_is_another() -> None:
    assert not set(by_name("ann from 192.0.2.0/24", "")) & set(by_name("ann", "192.0.2.1"))
