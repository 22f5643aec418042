"""The parts of the suite hold every test once."""

import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from services.machine.waiting import wait_until
from tests.parts import (
    EXIT_INTERRUPTED,
    NO_TESTS,
    PATIENT,
    SECONDS,
    TESTS,
    Ended,
    Runner,
    at_once,
    main,
    parts,
    run_all,
    summary,
)


def test_every_test_is_in_exactly_one_part() -> None:
    held = Counter(file for part in parts() for file in (TESTS / part).rglob("test_*.py"))
    assert set(held) == set(TESTS.rglob("test_*.py"))
    assert set(held.values()) == {1}


def test_what_takes_longest_begins_first() -> None:
    measured = [SECONDS[name] for name in parts()[: len(SECONDS)]]
    assert measured == sorted(SECONDS.values(), reverse=True)


@pytest.mark.parametrize(
    ("mebibytes", "cores", "expected"), [(16_000, 2, 2), (6_000, 2, 1), (64_000, 1, 1)]
)
def test_a_small_machine_runs_one_part_at_a_time(mebibytes: int, cores: int, expected: int) -> None:
    assert at_once(mebibytes, cores) == expected


def test_the_summary_names_what_failed() -> None:
    ended = [
        Ended("unit", 0, 3.0, "...\n== 3 passed in 1s ==\n"),
        Ended("matrix", NO_TESTS, 1.0, "3 deselected\n"),
        Ended("integration/x", 1, 5.0, "FAILED tests/x.py::y\n1 failed\n"),
        Ended("integration/killed", -9, 5.0, ""),
    ]
    told = summary(ended)
    assert "3 passed in 1s" in told
    assert "FAILED tests/x.py::y" in told
    assert "tests/integration/killed ended with exit code -9" in told
    assert "2 of 4 parts failed" in told
    assert "all parts passed" in summary(ended[:2])


class Meeting(Runner):
    """Runs nothing; each part waits until as many as are expected run at once."""

    def __init__(self, expected: int) -> None:
        super().__init__(())
        self._met = threading.Barrier(expected)
        self._counting = threading.Lock()
        self._inside = 0
        self.most = 0

    def run(self, part: str) -> Ended:
        with self._counting:
            self._inside += 1
            self.most = max(self.most, self._inside)
        self._met.wait(60)
        # Who must not be here yet has a moment to come and be counted.
        threading.Event().wait(0.01)
        with self._counting:
            self._inside -= 1
        return Ended(part, 0, 1.0, "")


@pytest.mark.parametrize(("side_by_side", "expected"), [(2, 3), (1, 1)])
def test_parts_that_mostly_wait_run_one_by_one_beside_the_others(
    side_by_side: int, expected: int
) -> None:
    assert set(PATIENT) <= set(parts())
    names = ["one", PATIENT[0], "other", "third", PATIENT[1], "fourth"]
    ended = run_all(names, meeting := Meeting(expected), side_by_side)
    assert {each.part for each in ended} == set(names)
    assert meeting.most == expected


def test_parts_run_side_by_side_and_one_failure_fails_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, held in (("good", "pass"), ("bad", "assert False")):
        folder = tmp_path / "tests" / name
        folder.mkdir(parents=True)
        (folder / f"test_{name}.py").write_text(f"def test_it():\n    {held}\n")
    monkeypatch.setattr("tests.parts.TESTS", tmp_path / "tests")
    monkeypatch.setattr("tests.parts.parts", lambda: parts(tmp_path / "tests"))
    assert main(["--at-once", "2", "-q"]) == 1
    said = capsys.readouterr().out
    assert "1 of 2 parts failed" in said
    assert "test_bad.py::test_it" in said


def test_a_suite_in_which_nothing_ran_has_not_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"test_{name}.py").write_text(f"def test_{name}():\n    pass\n")
    monkeypatch.setattr("tests.parts.TESTS", tmp_path)
    monkeypatch.setattr("tests.parts.parts", lambda: parts(tmp_path))
    assert main(["--at-once", "2", "-q", "-k", "mispelt"]) == 1
    assert capsys.readouterr().out.endswith("\nno test was run\n")
    assert main(["--at-once", "2", "-q", "-k", "other"]) == 0
    assert capsys.readouterr().out.endswith("\nall parts passed\n")


@pytest.mark.parametrize("is_deaf", [False, True])
def test_when_it_is_told_to_end_what_runs_ends_and_nothing_else_begins(
    tmp_path: Path, is_deaf: bool
) -> None:
    """Deaf to SIGINT is what a shell starts in the background."""
    for name in ("endless", "later"):
        folder = tmp_path / "tests" / name
        folder.mkdir(parents=True)
        (folder / f"test_{name}.py").write_text(
            "import threading\nfrom pathlib import Path\n\n\n"
            f"def test_it():\n    Path({str(tmp_path / name)!r}).touch()\n"
            "    threading.Event().wait()\n"
        )
    program = (
        "import signal, sys; from pathlib import Path; from tests import parts;"
        f"signal.signal(signal.SIGINT, signal.{'SIG_IGN' if is_deaf else 'SIG_DFL'});"
        f"parts.TESTS = Path({str(tmp_path / 'tests')!r}); found = parts.parts(parts.TESTS);"
        "parts.parts = lambda: found; sys.exit(parts.main(['--at-once', '1']))"
    )
    running = subprocess.Popen([sys.executable, "-c", program], cwd=TESTS.parent)
    wait_until((tmp_path / "endless").exists, 120, "the first part has not begun")
    running.terminate()
    assert running.wait(120) == EXIT_INTERRUPTED
    assert not (tmp_path / "later").exists()
