"""How a client proves itself to a cluster, and the cluster to it."""

from dataclasses import dataclass
from typing import Literal

from pydantic import SecretStr

Protocol = Literal["plaintext", "ssl", "sasl_plaintext", "sasl_ssl"]
Mechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]


@dataclass(frozen=True, slots=True)
class Security:
    """TLS by `ssl`, a user by `sasl`; without a CA file the system's CAs are trusted."""

    protocol: Protocol = "plaintext"
    mechanism: Mechanism = "SCRAM-SHA-512"
    username: str | None = None
    password: SecretStr | None = None
    ca_file: str | None = None
    certificate_file: str | None = None
    """Our own certificate, for clusters that ask for one; with `key_file`."""
    key_file: str | None = None
    setting: str = ""
    """What a person sets it by, to be named where no client can be opened with it."""

    def complaint(self) -> str | None:
        """Say what is missing, or None."""
        if "sasl" in self.protocol and not self.username:
            return f"with {self.protocol} a user name is needed"
        if bool(self.certificate_file) != bool(self.key_file):
            return "a certificate and its key are needed together"
        return None

    def config(self) -> dict[str, str]:
        """Return what the client is told."""
        told: dict[str, str | None] = {"security.protocol": self.protocol}
        if "ssl" in self.protocol:
            told |= {
                "ssl.ca.location": self.ca_file,
                "ssl.certificate.location": self.certificate_file,
                "ssl.key.location": self.key_file,
            }
        if "sasl" in self.protocol:
            told |= {
                "sasl.mechanism": self.mechanism,
                "sasl.username": self.username,
                "sasl.password": self.password.get_secret_value() if self.password else "",
            }
        return {name: value for name, value in told.items() if value is not None}
