"""What tells one state of a folder of declarations from another."""

from pathlib import Path

from services.contracts.declarations import digest_of


def test_digest_follows_every_byte_and_no_other_file(tmp_path: Path) -> None:
    before = digest_of(tmp_path)
    (tmp_path / "notes.txt").write_text("x")
    assert digest_of(tmp_path) == before
    (tmp_path / "limits.csv").write_text("a")
    with_rules = digest_of(tmp_path)
    (tmp_path / "limits.csv").write_text("b")
    assert len({before, with_rules, digest_of(tmp_path)}) == 3
