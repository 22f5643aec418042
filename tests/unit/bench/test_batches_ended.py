"""A log is read while its program writes it."""

from pathlib import Path

from tests.bench.engines.auditors import batches_ended_ms


def test_a_line_that_is_not_whole_yet_is_left_for_later(tmp_path: Path) -> None:
    log_file = tmp_path / "auditor.log"
    line = '{"event":"batch","ended_at_ms":5}\n'
    log_file.write_text(f'Java says hello\n{{"event":"ready"}}\n{line}{line[:-9]}')
    assert batches_ended_ms(log_file) == [5]
    log_file.write_text(line[:-9])
    assert batches_ended_ms(log_file) == []
