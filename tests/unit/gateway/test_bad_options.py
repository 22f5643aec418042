"""Options of the Kafka client that cannot be used are a wrong setting, not a traceback."""

from collections.abc import Callable

import pytest

from services.backbone.settings import EXIT_BAD_SETTINGS
from services.gateway.__main__ import main
from services.gateway.amqp.__main__ import main as amqp_main


@pytest.mark.parametrize("run", [main, amqp_main])
def test_a_gateway_says_which_setting_cannot_be_used(
    run: Callable[[], int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ALDEBARAN_KAFKA_OPTIONS", '{"secuirty.protocol": "ssl"}')
    assert run() == EXIT_BAD_SETTINGS
    assert "cannot start: ALDEBARAN_KAFKA_OPTIONS: " in capsys.readouterr().err
