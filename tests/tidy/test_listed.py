"""The tidy tests look at the same files in a clone and in an unpacked archive."""

from pathlib import Path

import pytest

from tests.tidy import test_tidy
from tests.tidy.test_tidy import by_walking, tracked

OURS = (".ci/run", "Makefile", "services/a.py", "tests/b.py")
MADE = (".git/a.py", ".tools/venv/a.py", ".aldebaran/a.py", "tests/__pycache__/b.py", "own/c.py")


@pytest.fixture
def unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that git takes for no repository."""
    for name in (*OURS, *MADE):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.setattr(test_tidy, "ROOT", tmp_path)
    monkeypatch.setattr(test_tidy, "TOOLS", tmp_path / "own")
    return tmp_path


def test_an_archive_has_the_files_of_the_clone(unpacked: Path) -> None:
    assert by_walking(unpacked) == list(OURS)
    assert tracked(".py") == ["services/a.py", "tests/b.py"]


def test_git_need_not_be_installed(unpacked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(unpacked))
    assert tracked(".py") == ["services/a.py", "tests/b.py"]
