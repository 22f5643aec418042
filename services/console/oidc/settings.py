"""What the console can be told about a login provider."""

from ipaddress import ip_address
from typing import Annotated, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, StringConstraints, model_validator

from services.backbone.certificates import CaFile
from services.backbone.settings import Settings
from services.backbone.web.links import WebAddress
from services.console.people.roles import Role

CALLBACK_PATH: Final = "/login/oidc/callback"

Claim = Annotated[str, StringConstraints(min_length=1, max_length=200)]
RoleName = Literal["viewer", "responder", "admin"]


class OidcSettings(Settings):
    """Without an issuer there are local users only."""

    console_public_url: WebAddress = ""
    """Where people reach the console; needed unless it listens on this machine only."""
    console_oidc_issuer: WebAddress = ""
    """The provider's address, as its own discovery document spells it."""
    console_oidc_client_id: Annotated[str, Field(max_length=255)] = ""
    """Our name at the provider."""
    console_oidc_client_secret: SecretStr = SecretStr("")
    """Empty for a public client: then PKCE alone proves that the code is ours."""
    console_oidc_scopes: Annotated[str, Field(pattern=r"^openid( [!-~]{1,100}){0,20}$")] = (
        "openid profile email"
    )
    """What a person is asked to let us see."""
    console_oidc_name_claim: Claim = "preferred_username"
    """The claim that names a person here; without it `email`, else the subject."""
    console_oidc_roles_claim: Claim = "groups"
    """The claim that gives roles; dots lead into objects, as in `realm_access.roles`."""
    console_oidc_roles: Annotated[dict[Claim, RoleName], Field(max_length=200)] = Field(
        default_factory=dict
    )
    """The role of each value of that claim; who has several gets the highest."""
    console_oidc_default_role: RoleName | Literal[""] = ""
    """The role of everybody else whom the provider knows; empty: they are not let in."""
    console_oidc_label: Annotated[str, Field(min_length=1, max_length=60)] = "single sign-on"
    """What the button says: "Log in with ..."."""
    console_oidc_ca_file: CaFile | None = None
    """Certificates (PEM) that the provider's is checked by, instead of the usual ones."""
    console_oidc_timeout_seconds: Annotated[float, Field(gt=0, le=30)] = 5.0
    """Of each request to the provider, as a whole."""
    console_oidc_skew_seconds: Annotated[float, Field(ge=0, le=300)] = 60.0
    """How far the provider's clock may be off."""

    @model_validator(mode="after")
    def _a_provider_can_be_used(self) -> Self:
        if not self.console_oidc_issuer:
            return self
        if not is_safe(self.console_oidc_issuer):
            raise ValueError("console_oidc_issuer: tokens travel by https:// only")
        if not self.console_oidc_client_id:
            raise ValueError("console_oidc_client_id: name the client registered at the provider")
        if not self.console_public_url:
            raise ValueError("console_public_url: the provider has to lead people back to it")
        if not (self.console_oidc_roles or self.console_oidc_default_role):
            raise ValueError(
                "console_oidc_roles: say who gets which role, or nobody is let in; "
                'for example {"on-call": "responder"}'
            )
        return self

    @property
    def oidc_callback_url(self) -> str:
        """The redirect address that is registered at the provider."""
        return self.console_public_url.rstrip("/") + CALLBACK_PATH

    def role_of(self, values: frozenset[str]) -> Role | None:
        """Return the highest role that the claim's values give; None: not let in."""
        given = [Role(role) for value, role in self.console_oidc_roles.items() if value in values]
        if self.console_oidc_default_role:
            given.append(Role(self.console_oidc_default_role))
        return max(given, key=list(Role).index, default=None)


def is_safe(url: str) -> bool:
    """Tell whether what is sent to an address cannot be read on its way."""
    parts = urlsplit(url)
    if parts.scheme == "https":
        return bool(parts.hostname)
    try:
        return parts.scheme == "http" and ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return parts.scheme == "http" and parts.hostname == "localhost"
