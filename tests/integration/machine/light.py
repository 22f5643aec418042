"""A supervisor over light programs, run as a process of its own by test_supervisor.

python -m tests.integration.machine.light <home> <mark>: every process it starts carries the mark.
"""

import os
import sys
from pathlib import Path

from services.machine.home import occupied
from services.machine.supervision.interrupts import Interrupts
from services.machine.supervision.programs import Program
from services.machine.supervision.restarts import RestartPolicy
from services.machine.supervision.supervisor import Supervisor, Surroundings
from services.machine.terminal.voice import say
from services.machine.waiting import now_seconds


def light_programs(mark: str) -> tuple[Program, ...]:
    return (
        Program("family", ("sh", "-c", f"sleep {mark} & wait")),
        Program("task", ("sh", "-c", "exit 0"), after=("family",), once=True),
        Program("sleeper", ("sleep", mark), after=("task",)),
    )


def main(home: Path, mark: str) -> int:
    with occupied(home), Interrupts() as interrupts:
        around = Surroundings(os.environ, home / "log", say, interrupts.wait, now_seconds)
        policy = RestartPolicy(first_pause_seconds=0.05)
        return Supervisor(light_programs(mark), around, policy, lambda: say("ready")).run()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
