"""What steps back does so among the sessions of a machine too, and takes nobody else with it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SHOWN = """
import os
from pathlib import Path
from services.backbone.niceness import step_back
step_back(7)
group = Path("/proc/self/autogroup")
print(os.nice(0), group.read_text().split()[-1] if group.exists() else "none")
"""


def shown(leads: bool) -> list[str]:
    command = [sys.executable, "-c", SHOWN]
    done = subprocess.run(
        command, start_new_session=leads, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_a_program_steps_back_within_its_session() -> None:
    before = os.nice(0)
    assert shown(leads=False)[0] == str(min(19, before + 7))


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="Linux without autogroup")
def test_one_that_leads_its_session_steps_back_among_sessions() -> None:
    assert shown(leads=True)[1] == "7"
    ours = Path("/proc/self/autogroup").read_text("ascii").split()[-1]
    assert shown(leads=False)[1] == ours
