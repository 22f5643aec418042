"""Guessing passwords at the login gets slower, for the one who guesses."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from services.backbone.clock import ManualClock
from services.backbone.ledger.database import Pool
from services.backbone.web.problems import Problem
from services.console.people.audit import Audit
from services.console.people.brake import Brake
from services.console.people.login import AT_ONCE, Login
from services.console.people.roles import Role
from services.console.people.sessions import Sessions
from services.console.people.throttle import Throttle
from services.console.people.users import Users
from tests.integration.console.conftest import PASSWORD, TESTER

pytestmark = pytest.mark.postgres


def test_failures_slow_down_and_are_noted(pool: Pool, ledger_url: str) -> None:
    users, audit, clock = Users(pool), Audit(pool), ManualClock()
    users.add(TESTER, "ann", PASSWORD, Role.VIEWER)
    login = Login(users, Sessions(pool), audit, Brake(clock))

    def status(password: str, name: str = "ann") -> int:
        try:
            login.let_in(name, password, "192.0.2.1")
        except Problem as problem:
            return problem.status
        return 200

    assert [status("wrong") for _ in range(5)] == [401] * 5
    assert status(PASSWORD) == 429
    assert status("wrong", "nobody") == 429
    clock.move(3)
    assert status(PASSWORD) == 200
    assert status("wrong") == 401
    assert [row.outcome for row in audit.newest(10)].count("refused") == 6


def test_a_stranger_does_not_keep_the_owner_out(pool: Pool) -> None:
    users, clock = Users(pool), ManualClock()
    users.add(TESTER, "admin", PASSWORD, Role.VIEWER)
    login = Login(users, Sessions(pool), Audit(pool), Brake(clock))
    for number in range(20):
        clock.move(min(2.0**number, 900))
        with pytest.raises(Problem, match="not_you"):
            login.let_in("admin", "wrong", "203.0.113.9")
    clock.move(30)
    with pytest.raises(Problem, match="slow_down"):
        login.let_in("admin", PASSWORD, "203.0.113.9")
    assert login.let_in("admin", PASSWORD, "198.51.100.7")


def test_many_tries_at_once_are_slowed_down_too(pool: Pool) -> None:
    users, audit = Users(pool), Audit(pool)
    users.add(TESTER, "ann", PASSWORD, Role.VIEWER)
    login = Login(users, Sessions(pool), audit, Brake(ManualClock()))
    together = Barrier(24)

    def status(number: int) -> int:
        together.wait()
        try:
            login.let_in("ann", f"wrong {number}", "192.0.2.1")
        except Problem as problem:
            return problem.status
        return 200

    with ThreadPoolExecutor(24) as threads:
        said = list(threads.map(status, range(24)))
    assert said.count(200) == 0
    assert said.count(401) <= Throttle().free_failures + AT_ONCE - 1, said
