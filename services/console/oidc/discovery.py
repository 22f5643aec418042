"""Where the pages of a login provider are, as it says itself (OpenID Connect Discovery)."""

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from services.console.oidc.settings import is_safe

WELL_KNOWN: Final = "/.well-known/openid-configuration"

Address = Annotated[str, Field(min_length=1, max_length=2000)]


class Pages(BaseModel):
    """The part of the discovery document that we use."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    issuer: Address
    authorization_endpoint: Address
    token_endpoint: Address
    jwks_uri: Address
    userinfo_endpoint: Address | None = None
    end_session_endpoint: Address | None = None
    token_endpoint_auth_methods_supported: list[str] = ["client_secret_basic"]
    authorization_response_iss_parameter_supported: bool = False

    def unsafe(self) -> str | None:
        """Return an address that could be read or changed on its way; None if all are safe."""
        named = (
            self.authorization_endpoint,
            self.token_endpoint,
            self.jwks_uri,
            self.userinfo_endpoint,
            self.end_session_endpoint,
        )
        return next((each for each in named if each and not is_safe(each)), None)
