"""An account made up at start: the app's signing key, and the server's own certificate."""

import ssl
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from cryptography.x509.oid import NameOID

_VALID_DAYS: Final = 3650
_FILES: Final = {
    "signing_key": "signing-key.p8",
    "verifying_key": "verifying-key.pem",
    "certificate": "certificate.pem",
    "server_key": "server-key.pem",
}
_HOST: Final = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Account:
    """What a sender needs to talk to the stand-in."""

    signing_key: str
    verifying_key: str
    certificate: str
    server_key: str
    key_id: str = "TRYOUT0001"
    team_id: str = "TRYOUT0001"
    topic: str = "org.example.aldebaran"

    def tls(self) -> ssl.SSLContext:
        """Return how the server presents itself: HTTP/2 only."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with tempfile.TemporaryDirectory() as folder:
            certificate, key = Path(folder, "certificate"), Path(folder, "key")
            certificate.write_text(self.certificate)
            key.write_text(self.server_key)
            context.load_cert_chain(certificate, key)
        context.set_alpn_protocols(["h2"])
        return context


def made_up(now_ms: int) -> Account:
    """Make a new account."""
    signing, server = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    public = signing.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return Account(
        signing_key=_pem(signing),
        verifying_key=public.decode(),
        certificate=_certificate(server, now_ms).public_bytes(Encoding.PEM).decode(),
        server_key=_pem(server),
    )


def kept(folder: Path, now_ms: int) -> Account:
    """Return the account of a folder; one that is not there yet is made and kept.

    A sender finds Apple's key in `signing-key.p8`, and whom to trust in `certificate.pem`.
    """
    files = {name: folder / file for name, file in _FILES.items()}
    if not all(file.is_file() for file in files.values()):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        made = made_up(now_ms)
        for name, file in files.items():
            unfinished = file.with_name(file.name + ".new")
            unfinished.write_text(str(getattr(made, name)), "ascii")
            unfinished.replace(file)
    return Account(**{name: file.read_text("ascii") for name, file in files.items()})


def _pem(key: ec.EllipticCurvePrivateKey) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def _certificate(key: ec.EllipticCurvePrivateKey, now_ms: int) -> x509.Certificate:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "aldebaran-inbox")])
    now = datetime.fromtimestamp(now_ms / 1000, UTC)
    names = x509.SubjectAlternativeName([x509.IPAddress(ip_address(_HOST))])
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=_VALID_DAYS))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(names, critical=False)
        .sign(key, hashes.SHA256())
    )
