"""What the auditor tells Spark by its settings."""

import pytest

from auditor.session import real_time_config
from auditor.settings import AuditorSettings
from services.backbone.settings import read_settings

SECRET = "spark.authenticate.secret"


def test_spark_is_told_its_options_and_the_log_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    options = f'{{"{SECRET}": "hunter2", "spark.authenticate": true}}'
    monkeypatch.setenv("ALDEBARAN_AUDITOR_SPARK_OPTIONS", options)
    settings = read_settings(AuditorSettings)
    told = real_time_config(settings)
    assert (told[SECRET], told["spark.authenticate"]) == ("hunter2", "true")
    assert "hunter2" not in settings.model_dump_json()


def test_files_in_a_store_are_left_to_spark() -> None:
    setting = "spark.sql.streaming.checkpointFileManagerClass"
    assert setting in real_time_config(AuditorSettings())
    assert setting not in real_time_config(AuditorSettings(auditor_store="s3a://bucket/here"))
