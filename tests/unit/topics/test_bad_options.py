"""Options of the Kafka client that cannot be used are a wrong setting."""

import pytest

from services.backbone.settings import EXIT_BAD_SETTINGS
from services.topics.__main__ import main


def test_topics_say_which_setting_cannot_be_used(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ALDEBARAN_KAFKA_OPTIONS", '{"secuirty.protocol": "ssl"}')
    assert main([]) == EXIT_BAD_SETTINGS
    said = capsys.readouterr().err
    assert said.startswith("settings cannot be used: ALDEBARAN_KAFKA_OPTIONS: ")
