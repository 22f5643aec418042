"""What steps back does so among the sessions of a machine too, and takes nobody else with it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

AUTOGROUP = Path("/proc/self/autogroup")
SHOWN = """
import os
from services.backbone.niceness import step_back
from tests.unit.backbone.test_niceness import of_session
step_back(7)
print(os.nice(0), of_session())
"""


def of_session() -> str:
    """Return the niceness of this program's session; "none" of that which a machine began with."""
    words = AUTOGROUP.read_text("ascii").split() if AUTOGROUP.exists() else []
    return words[-1] if words else "none"


def shown(leads: bool) -> list[str]:
    command = [sys.executable, "-c", SHOWN]
    done = subprocess.run(
        command, start_new_session=leads, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_a_program_steps_back_within_its_session() -> None:
    before = os.nice(0)
    assert shown(leads=False)[0] == str(min(19, before + 7))


@pytest.mark.skipif(not AUTOGROUP.exists(), reason="Linux without autogroup")
def test_one_that_leads_its_session_steps_back_among_sessions() -> None:
    assert shown(leads=True)[1] == "7"
    assert shown(leads=False)[1] == of_session()
