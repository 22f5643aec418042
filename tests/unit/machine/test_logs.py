from pathlib import Path

from services.machine.supervision.logs import cut_long_logs


def test_a_long_log_is_moved_aside_and_its_writer_goes_on(tmp_path: Path) -> None:
    log, short = tmp_path / "a.log", tmp_path / "b.log"
    short.write_text("short", "utf-8")
    with log.open("ab", buffering=0) as writer:
        writer.write(b"x" * 100)
        cut_long_logs(tmp_path, limit_bytes=50)
        writer.write(b"after")
    assert log.read_bytes() == b"after"
    assert (tmp_path / "a.log.1").read_bytes() == b"x" * 100
    assert short.read_text("utf-8") == "short"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.log", "a.log.1", "b.log"]


def test_where_the_disk_is_full_the_older_lines_are_lost_and_nothing_else(tmp_path: Path) -> None:
    log, kept = tmp_path / "a.log", tmp_path / "a.log.1"
    log.write_bytes(b"x" * 100)
    kept.symlink_to("/dev/full")
    cut_long_logs(tmp_path, limit_bytes=50)
    assert log.read_bytes() == b""
    assert not kept.is_symlink()


def test_a_log_that_was_moved_away_meanwhile_keeps_no_other_from_being_cut(tmp_path: Path) -> None:
    (tmp_path / "a.log").symlink_to(tmp_path / "moved-away")
    for name in ("0.log", "z.log"):
        (tmp_path / name).write_bytes(b"x" * 100)
    cut_long_logs(tmp_path, limit_bytes=50)
    assert [(tmp_path / name).stat().st_size for name in ("0.log", "z.log")] == [0, 0]
