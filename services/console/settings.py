"""What the console can be told."""

from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, model_validator

from services.backbone.settings import (
    KafkaSettings,
    LedgerSettings,
    StreamsSettings,
    WatchesSettings,
)
from services.backbone.web.keys import HeldKey
from services.console.oidc.settings import OidcSettings
from services.console.people.passwords import check_length
from services.contracts.records import Name
from services.contracts.web import ServerAddress

PartUrl = Annotated[ServerAddress, Field(max_length=200, pattern=r"^http://[^\s/?#]+$")]


def _usable(password: SecretStr) -> SecretStr:
    if password.get_secret_value():
        check_length(password.get_secret_value())
    return password


FirstPassword = Annotated[SecretStr, AfterValidator(_usable)]
LOCAL_NAMES: Final = ("127.0.0.1", "localhost")


class ConsoleSettings(
    LedgerSettings, KafkaSettings, StreamsSettings, WatchesSettings, OidcSettings
):
    """Where others can reach it, it is reached by HTTPS and all log in."""

    console_readers: Literal["all", "users", ""] = ""
    """Who may look: `all` who reach the port, or `users` who have logged in. If left out: all
    where it listens on this machine only, else users. Whoever acts has logged in, always."""
    console_first_password: FirstPassword = SecretStr("")
    """The password of `admin`, who is made while there is no user at all."""
    console_session_hours: Annotated[float, Field(gt=0, le=24 * 30)] = 12.0
    """After so long a person logs in again."""
    console_idle_minutes: Annotated[float, Field(gt=0, le=24 * 60)] = 60.0
    """After so long without a request too."""
    console_look_seconds: Annotated[float, Field(ge=0.2, le=60)] = 2.0
    """Time between two looks at the ledger and at the other programs."""
    console_parts: Annotated[dict[Name, PartUrl], Field(max_length=100)] = Field(
        default_factory=dict
    )
    """Where the other programs serve health and metrics, by name. A host name that stands for
    several addresses is several processes."""
    lookout_url: ServerAddress = "http://127.0.0.1:8080"
    """Where the lookout's API is."""
    operator_key: HeldKey = SecretStr("")
    """The console's own key for the lookout: silences and tests go through it."""
    operator_keys_file: Path | None = None
    """Whose keys the JSON API takes: the same file as the lookout's."""

    @model_validator(mode="after")
    def _passwords_travel_encrypted(self) -> Self:
        if not self.is_local and not self.is_secure:
            raise ValueError(
                "console_public_url: name the https:// address that leads here, or listen on "
                "127.0.0.1; else passwords could be read on their way"
            )
        return self

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        try:
            return ip_address(self.http_host).is_loopback
        except ValueError:
            return self.http_host == "localhost"

    @property
    def is_secure(self) -> bool:
        """Whether people reach it by HTTPS."""
        return self.console_public_url.startswith("https://")

    @property
    def open_to_readers(self) -> bool:
        """Whether everybody may look who reaches the port."""
        return (self.console_readers or ("all" if self.is_local else "users")) == "all"

    @property
    def host_names(self) -> list[str]:
        """The names under which requests may come."""
        public = urlsplit(self.console_public_url).hostname
        return [*LOCAL_NAMES, *([public] if public else [])]
