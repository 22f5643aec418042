"""What the push channel is told: Apple's key, the app, the devices by name."""

from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Final, Self

import httpx2
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    field_validator,
    model_validator,
)

from services.backbone.certificates import CaFile
from services.backbone.settings import LedgerSettings, Seconds
from services.contracts.recipients import DEVICE_TOKEN
from services.contracts.web import ServerAddress

_NO_KEY: Final = "push_key is no P-256 key: take the .p8 file that Apple gave you"


def _hex(value: Any) -> Any:
    if isinstance(value, str) and not DEVICE_TOKEN.fullmatch(value):
        raise ValueError("a device token has 64 to 200 hexadecimal digits")
    return value


class PushDevice(BaseModel):
    """A named phone; `registered_at` tells that the token is newer than what Apple has dropped."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    token: Annotated[SecretStr, BeforeValidator(_hex)]
    registered_at: AwareDatetime | None = None


class PushSettings(LedgerSettings):
    """Apple's key, the app, and where."""

    push_key_id: Annotated[str, Field(pattern=r"^[A-Z0-9]{10}$")]
    """The id that Apple gave the signing key."""
    push_team_id: Annotated[str, Field(pattern=r"^[A-Z0-9]{10}$")]
    """The team's id at Apple."""
    push_key: SecretStr | None = None
    """The signing key (.p8) itself, or `push_key_file` names its file."""
    push_key_file: Path | None = None
    """The file of the signing key."""
    push_topic: Annotated[str, Field(min_length=1, max_length=255)]
    """The app's bundle id."""
    push_devices: dict[str, PushDevice] = Field(default_factory=dict)
    """Phones by the name that routes use, and since when each token is known."""
    push_url: ServerAddress = "https://api.push.apple.com"
    """Development builds of an app use https://api.sandbox.push.apple.com."""
    push_keep_seconds: Seconds = 86_400.0
    """How long Apple keeps a notification for a phone that is offline."""
    push_connect_timeout_seconds: Seconds = 5.0
    """How long a connection may take to come about."""
    push_idle_seconds: Seconds = 300.0
    """A connection that was idle for longer is not used again: a firewall may have dropped it."""
    push_ca_file: CaFile | None = None
    """Certificates (PEM) that the server's is checked by, instead of the system's."""

    @field_validator("push_url")
    @classmethod
    def _client_takes_it(cls, address: str) -> str:
        try:
            httpx2.URL(address)
        except httpx2.InvalidURL as error:  # of signs outside of ASCII it takes fewer than others
            raise ValueError(str(error)) from None
        return address

    @model_validator(mode="after")
    def _key_signs(self) -> Self:
        self.signing_key()
        return self

    def signing_key(self) -> EllipticCurvePrivateKey:
        """Return Apple's key.

        Raises:
            ValueError: it is missing, or is no P-256 key.
        """
        pem = self._pem()
        try:
            key = load_pem_private_key(pem, password=None)
        except (ValueError, TypeError):
            raise ValueError(_NO_KEY) from None
        if not isinstance(key, EllipticCurvePrivateKey) or not isinstance(key.curve, SECP256R1):
            raise ValueError(_NO_KEY)
        return key

    def _pem(self) -> bytes:
        if self.push_key is not None:
            return self.push_key.get_secret_value().encode()
        if self.push_key_file is None:
            raise ValueError("set push_key, or push_key_file to the .p8 file that Apple gave you")
        try:
            return self.push_key_file.read_bytes()
        except OSError as error:
            raise ValueError(f"push_key_file cannot be read: {error.strerror}") from None

    def device(self, recipient: str) -> tuple[str, datetime | None] | None:
        """Return a recipient's token and when it was registered, or None for an unknown name."""
        named = self.push_devices.get(recipient)
        if named is not None:
            return named.token.get_secret_value().lower(), named.registered_at
        return (recipient.lower(), None) if DEVICE_TOKEN.fullmatch(recipient) else None
