"""Until when the certificate holds that Kafka clients show."""

from pathlib import Path

import pytest
from prometheus_client import REGISTRY
from pydantic import SecretStr
from structlog.testing import capture_logs

from services.backbone.errors import Refused
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.settings import KafkaSettings
from services.simulator.inbox.apns.account import made_up

DAY_MS = 86_400_000
NOW_MS = 1_796_000_000_000


def ends_of(file: Path | str) -> float | None:
    name = "aldebaran_kafka_certificate_ends_timestamp_seconds"
    return REGISTRY.get_sample_value(name, {"file": str(file)})


def open_client(certificate: Path, key: Path, protocol: str = "ssl") -> None:
    files = {"ssl.certificate.location": str(certificate), "ssl.key.location": str(key)}
    open_with(files | {"security.protocol": protocol})


def open_with(options: dict[str, str]) -> None:
    secret = {name: SecretStr(value) for name, value in options.items()}
    TopicAdmin(KafkaSettings(kafka_bootstrap_servers="127.0.0.1:9", kafka_options=secret), "test")


def test_the_end_is_that_of_the_certificate_that_the_first_client_has_read(tmp_path: Path) -> None:
    certificate, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    told = []
    for later_days in (0, 30):
        made = made_up(NOW_MS + later_days * DAY_MS)
        certificate.write_text(made.certificate)
        key.write_text(made.server_key)
        open_client(certificate, key)
        told.append(ends_of(certificate))
    first, second = told
    assert first is not None
    assert first > NOW_MS / 1000
    assert second == first, "the client before shows the old one on"


def test_of_a_file_that_is_none_the_client_tells(tmp_path: Path) -> None:
    certificate, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    certificate.write_text("no certificate")
    key.write_text("no key")
    with pytest.raises(Refused, match=r"ssl\.certificate\.location"):
        open_client(certificate, key)
    assert ends_of(certificate) is None


@pytest.mark.parametrize(("protocol", "shown"), [("PLAINTEXT", False), ("SSL", True)])
def test_one_that_no_broker_is_shown_has_no_end(tmp_path: Path, protocol: str, shown: bool) -> None:
    certificate, key, made = tmp_path / "tls.crt", tmp_path / "tls.key", made_up(NOW_MS)
    certificate.write_text(made.certificate)
    key.write_text(made.server_key)
    open_client(certificate, key, protocol)
    assert (ends_of(certificate) is not None) == shown


def test_one_that_stands_in_the_options_is_told_by_their_name() -> None:
    made = made_up(NOW_MS)
    inline = {"ssl.certificate.pem": made.certificate, "ssl.key.pem": made.server_key}
    open_with(inline | {"security.protocol": "ssl"})
    assert (ends_of("ssl.certificate.pem") or 0) > NOW_MS / 1000


def test_that_the_end_of_one_that_the_client_can_use_is_not_known_is_said_once(
    tmp_path: Path,
) -> None:
    certificate, key, made = tmp_path / "tls.crt", tmp_path / "tls.key", made_up(NOW_MS)
    certificate.write_text(made.certificate.replace(" CERTIFICATE", " TRUSTED CERTIFICATE"))
    key.write_text(made.server_key)
    with capture_logs() as lines:
        for _ in range(2):
            open_client(certificate, key)
    assert [(each["event"], each["file"]) for each in lines] == [
        ("certificate_end_not_known", str(certificate))
    ]
    assert ends_of(certificate) is None
