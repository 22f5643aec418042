"""A file of certificates that cannot be used is told by its setting, and ends the start."""

from pathlib import Path

import pytest

from services.backbone.settings import EXIT_BAD_SETTINGS, Settings, read_settings
from services.deliverer.channels.rabbitmq.links import RabbitmqSettings
from services.deliverer.channels.webhook import WebhookSettings
from tests.metrics import ROOT
from tests.settings import PROGRAMS

CERTIFICATE = str(ROOT / "tests/integration/deliverer/relay.pem")


def refused(kind: type[Settings], capsys: pytest.CaptureFixture[str], **given: str) -> str:
    with pytest.raises(SystemExit) as stopped:
        read_settings(kind, **given)
    assert stopped.value.code == EXIT_BAD_SETTINGS
    return capsys.readouterr().err


@pytest.mark.parametrize("content", [None, "", "no certificate"])
def test_a_file_that_cannot_be_used_is_refused(
    content: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)
    told = refused(WebhookSettings, capsys, webhook_ca_file=str(path))
    assert "ALDEBARAN_WEBHOOK_CA_FILE: Value error, cannot be read as certificates (PEM)" in told
    read_settings(WebhookSettings, webhook_ca_file=CERTIFICATE)


def test_no_ca_file_of_a_program_is_opened_for_the_first_time_when_it_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The bus's goes to Kafka's client, which tells of it itself."""
    for kind in (kind for section in PROGRAMS for kind in section.kinds):
        for name in set(kind.model_fields) - {"bus_ca_file"}:
            if name.endswith("ca_file"):
                told = refused(kind, capsys, **{name: "/nowhere.pem"})
                assert f"ALDEBARAN_{name.upper()}: Value error, cannot be read" in told


@pytest.mark.parametrize("own", ["/nowhere.pem", __file__])
def test_a_certificate_of_our_own_that_cannot_be_shown_is_refused(
    own: str, capsys: pytest.CaptureFixture[str]
) -> None:
    url = "amqps://u:p@127.0.0.1:5671/"
    told = refused(RabbitmqSettings, capsys, rabbitmq_url=url, rabbitmq_certificate_file=own)
    assert "rabbitmq_certificate_file, rabbitmq_key_file: cannot be read" in told
    read_settings(RabbitmqSettings, rabbitmq_url=url, rabbitmq_certificate_file=CERTIFICATE)
