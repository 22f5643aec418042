"""What the console says of the files of watches."""

from pathlib import Path

from services.console.watches import WatchShelf
from services.contracts.watches import SHIPPED_WATCHES


def test_a_copy_of_the_same_name_is_told_and_not_shown(tmp_path: Path) -> None:
    text = (SHIPPED_WATCHES / "over-purchase.yaml").read_text()
    for name in ("over-purchase.yaml", "z-copy.yaml"):
        (tmp_path / name).write_text(text)
    shelf = WatchShelf(tmp_path)
    assert shelf.one("over-purchase") is None
    assert shelf.text("over-purchase") is None
    assert all("declared twice" in problem for problem in shelf.all().problems)
    assert len(shelf.all().problems) == 2


def test_a_file_that_nobody_reads_is_told(tmp_path: Path) -> None:
    (tmp_path / "cpu-high.yml").write_text("watch: cpu-high")
    assert WatchShelf(tmp_path).all().problems == (
        "cpu-high.yml: only *.yaml files are read: rename it",
    )
