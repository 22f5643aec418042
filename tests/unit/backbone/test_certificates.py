"""A file of certificates that cannot be used is told by its setting, and ends the start."""

import ssl
from contextlib import suppress
from errno import EACCES
from pathlib import Path
from tempfile import NamedTemporaryFile

import pytest
from structlog.testing import capture_logs

from services.backbone.certificates import Certificates
from services.backbone.clock import SystemClock
from services.backbone.settings import EXIT_BAD_SETTINGS, Settings, read_settings
from services.deliverer.channels.rabbitmq.links import RabbitmqSettings
from services.deliverer.channels.webhook import WebhookSettings
from services.gateway.amqp.settings import AmqpSettings
from services.simulator.inbox.apns.account import Account, made_up
from tests.metrics import ROOT
from tests.settings import PROGRAMS

CERTIFICATE = str(ROOT / "tests/integration/deliverer/relay.pem")
OLD, NEW = (made_up(SystemClock().now_ms()) for _ in range(2))


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
@pytest.mark.parametrize(("kind", "name"), [(RabbitmqSettings, "rabbitmq"), (AmqpSettings, "amqp")])
def test_a_certificate_of_our_own_that_cannot_be_shown_is_refused(
    own: str, kind: type[Settings], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {f"{name}_url": "amqps://u:p@127.0.0.1:5671/"}
    told = refused(kind, capsys, **given, **{f"{name}_certificate_file": own})
    assert f"{name}_certificate_file, {name}_key_file: cannot be read" in told
    read_settings(kind, **given, **{f"{name}_certificate_file": CERTIFICATE})


@pytest.mark.parametrize("mine", ["amqp_ca_file", "amqp_certificate_file"])
@pytest.mark.parametrize("theirs", ["cafile", "capath", "cadata", "certfile", "keyfile"])
def test_an_on_ramp_whose_settings_and_address_both_name_files_is_refused(
    mine: str, theirs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"amqps://u:secret@127.0.0.1:5671/?{theirs}="
    told = refused(AmqpSettings, capsys, amqp_url=url + CERTIFICATE, **{mine: CERTIFICATE})
    assert f"amqp_url: `{theirs}` would not count beside amqp_ca_file" in told
    assert "secret" not in told
    read_settings(AmqpSettings, amqp_url=url + CERTIFICATE)


def test_a_file_that_is_whole_again_after_a_rotation_is_used_and_trouble_told_once(
    tmp_path: Path,
) -> None:
    ca_file = tmp_path / "ca.pem"
    ca_file.write_text(OLD.certificate)
    certificates = Certificates(str(ca_file))
    for half in (NEW.certificate[:300], OLD.certificate + NEW.certificate[:300], "", None):
        ca_file.unlink()
        if half is not None:
            ca_file.write_text(half)
        with capture_logs() as lines:
            found = [is_trusted(each, certificates) for each in (OLD, OLD, NEW)]
        assert found == [True, True, False]
        assert [each["event"] for each in lines] == ["certificates_unusable"]
    ca_file.write_text(NEW.certificate)
    assert is_trusted(NEW, certificates)


def test_a_file_that_nobody_might_read_for_a_moment_is_read_once_it_may_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its bytes are the same before and after, and so are size and time."""
    ca_file = tmp_path / "ca.pem"
    ca_file.write_text(OLD.certificate)
    certificates = Certificates(str(ca_file))
    ca_file.write_text(NEW.certificate)
    ca_file.chmod(0)
    with monkeypatch.context() as meanwhile:  # root reads what nobody may read
        meanwhile.setattr(ssl, "create_default_context", _refuse)
        assert is_trusted(OLD, certificates)
    ca_file.chmod(0o600)
    assert is_trusted(NEW, certificates)


def _refuse(cafile: str) -> ssl.SSLContext:
    raise PermissionError(EACCES, "Permission denied", cafile)


def test_our_own_certificate_is_replaced_once_its_key_has_come_too(tmp_path: Path) -> None:
    own, key = tmp_path / "own.pem", tmp_path / "own.key"
    own.write_text(OLD.certificate)
    key.write_text(OLD.server_key)
    certificates = Certificates(CERTIFICATE, str(own), str(key))
    own.write_text(NEW.certificate)
    assert shows(OLD, certificates)
    key.write_text(NEW.server_key)
    assert shows(NEW, certificates)


def is_trusted(account: Account, certificates: Certificates) -> bool:
    """Say whether a server with this certificate is taken for what it says."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with NamedTemporaryFile("w", suffix=".pem") as file:
        file.write(account.certificate + account.server_key)
        file.flush()
        server.load_cert_chain(file.name)
    try:
        met(certificates, server)
    except ssl.SSLCertVerificationError:
        return False
    return True


def shows(account: Account, certificates: Certificates) -> bool:
    """Say whether a server that knows just this certificate of ours is content."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(CERTIFICATE)
    server.verify_mode = ssl.CERT_REQUIRED
    server.load_verify_locations(cadata=account.certificate)
    try:
        met(certificates, server)
    except ssl.SSLCertVerificationError:
        return False
    return True


def met(certificates: Certificates, server: ssl.SSLContext) -> None:
    """Let a client shake hands with a server."""
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = certificates.tls().wrap_bio(down, up, server_hostname="127.0.0.1")
    far = server.wrap_bio(up, down, server_side=True)
    for _ in range(3):
        for side in (client, far):
            with suppress(ssl.SSLWantReadError):
                side.do_handshake()
