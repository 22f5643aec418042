from dataclasses import replace

import pytest

from services.machine.problems import MachineProblem
from services.machine.servers.preparing import Preparation, carry_out

ASKED = Preparation(("sh", "-c", "read line; echo $line; exit 3"), "it fails", 60, given="why\n")


def test_what_a_command_says_is_told_when_it_fails() -> None:
    with pytest.raises(MachineProblem, match=r"^it fails: why"):
        carry_out(ASKED)
    carry_out(replace(ASKED, command=("true",)))


def test_a_command_that_takes_too_long_is_told_in_a_line() -> None:
    endless = replace(ASKED, command=("sleep", "infinity"), timeout_seconds=0.1)
    with pytest.raises(MachineProblem, match=r"^it fails within 0.1 s, .* ALDEBARAN_HOME$"):
        carry_out(endless)
