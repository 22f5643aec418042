"""A version before's checkpoint goes whole or not at all, and takes no other stream's with it."""

import shutil
from pathlib import Path

import pytest

from archivist.earlier_query import is_left, remove_checkpoint


def made(folder: Path) -> Path:
    (folder / "offsets").mkdir(parents=True)
    (folder / "offsets" / "0").touch()
    return folder


@pytest.mark.parametrize("other", ["trades.over", "trades.yaml", "trades-1"])
def test_a_checkpoint_is_removed_alone(tmp_path: Path, other: str) -> None:
    one, another = made(tmp_path / "trades"), made(tmp_path / other)
    remove_checkpoint(one)
    assert not is_left(one)
    assert (another / "offsets" / "0").exists()


def test_a_killed_removal_is_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = made(tmp_path / "trades")
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", lambda *_, **__: None)
        remove_checkpoint(one)
    assert not one.exists()
    assert is_left(one)
    remove_checkpoint(one)
    assert not list(tmp_path.iterdir())
