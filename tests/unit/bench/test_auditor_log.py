"""A log is read while its program writes it."""

from pathlib import Path

from tests.bench.engines.auditors import batches_ended_ms, pauses_seconds


def test_a_line_that_is_not_whole_yet_is_left_for_later(tmp_path: Path) -> None:
    log_file = tmp_path / "auditor.log"
    line = '{"event":"batch","ended_at_ms":5}\n'
    log_file.write_text(f'Java says hello\n{{"event":"ready"}}\n{line}{line[:-9]}')
    assert batches_ended_ms(log_file) == [5]
    log_file.write_text(line[:-9])
    assert batches_ended_ms(log_file) == []


def test_pauses_are_those_that_the_auditor_tells(tmp_path: Path) -> None:
    log_file = tmp_path / "auditor.log"
    line = '{{"event":"boundary","pause_seconds":{}}}\n'
    log_file.write_text(line.format(0.25) + '{"event":"batch","ended_at_ms":5}\n' + line.format(1))
    assert pauses_seconds(log_file) == [0.25, 1.0]
