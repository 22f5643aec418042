"""Ports of one process: different, free, its own, and never used up by those that were given."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.machine.reserved import BLOCK, BLOCKS, FIRST, Reservation

GIVEN_BY_LINUX = 32_768


@given(st.lists(st.integers(1, 60), max_size=20), st.sets(st.integers(FIRST, FIRST + 600)))
def test_what_is_given_is_different_free_and_not_given_again_soon(
    tmp_path_factory: pytest.TempPathFactory, counts: list[int], taken: set[int]
) -> None:
    own = Reservation(lambda port: port not in taken, tmp_path_factory.mktemp("locks"))
    given_ports = [port for count in counts for port in own.take(count)]
    assert not set(given_ports) & taken
    assert all(FIRST <= port < GIVEN_BY_LINUX for port in given_ports)
    lately = given_ports[:100]
    assert len(set(lately)) == len(lately)


def test_two_processes_never_get_the_same(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path;"
        "from services.machine.reserved import Reservation;"
        "own = Reservation(lambda port: True, Path(sys.argv[1]));"
        "print(own.take(300)); sys.stdout.flush(); sys.stdin.read()"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    running = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    found = [set(json.loads((each.stdout or sys.stdin).readline())) for each in running]
    for each in running:
        each.communicate("")
    assert len(set.union(*found)) == 900
    assert len(Reservation(lambda _: True, tmp_path).take(2 * BLOCK)) == 2 * BLOCK


def test_when_every_block_is_held_it_says_so(tmp_path: Path) -> None:
    first = Reservation(lambda _: True, tmp_path, blocks=1)
    first.take(1)
    with pytest.raises(OSError, match="no block of ports is left"):
        Reservation(lambda _: True, tmp_path, blocks=1).take(1)
    with pytest.raises(OSError, match="no block of ports is left"):
        first.take(BLOCK + 1)
    assert FIRST + BLOCKS * BLOCK < GIVEN_BY_LINUX
