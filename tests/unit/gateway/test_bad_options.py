"""Options of the Kafka client that cannot be used are a wrong setting, not a traceback."""

import os
import subprocess
import sys

import pytest

from services.backbone.settings import EXIT_BAD_SETTINGS


@pytest.mark.parametrize("program", ["services.gateway", "services.gateway.amqp"])
def test_a_gateway_says_which_setting_cannot_be_used(program: str) -> None:
    wrong = {"ALDEBARAN_KAFKA_OPTIONS": '{"secuirty.protocol": "ssl"}'}
    ended = subprocess.run(
        [sys.executable, "-m", program],
        env=os.environ | wrong,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == EXIT_BAD_SETTINGS
    assert "cannot start: ALDEBARAN_KAFKA_OPTIONS: " in ended.stderr
