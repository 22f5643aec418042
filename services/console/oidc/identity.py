"""Who a token speaks of: name and role, from its claims."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from services.console.oidc.settings import OidcSettings
from services.console.oidc.tokens import Claims
from services.console.people.roles import Role

HALF_LIMIT_CHARACTERS: Final = 49
"""Before the @ of a name, and after it; names are up to 99 characters long."""
VALUES_LIMIT: Final = 2000
DEPTH_LIMIT: Final = 5

_UNFIT: Final = re.compile(r"[^a-z0-9_.@+-]+")


@dataclass(frozen=True, slots=True)
class Identity:
    """Somebody whom the provider knows; `role` is None for who may not come in."""

    issuer: str
    subject: str
    name: str
    role: Role | None


def identity_of(claims: Claims, settings: OidcSettings) -> Identity:
    """Return who the claims speak of; the subject is who it is, the name is for people to read."""
    return Identity(
        issuer=settings.console_oidc_issuer,
        subject=claims["sub"],
        name=_name(claims, settings),
        role=settings.role_of(values_of(claims, settings.console_oidc_roles_claim)),
    )


def values_of(claims: Claims, claim: str) -> frozenset[str]:
    """Return the texts of a claim; a single one counts like a list of one.

    An address that the provider has not verified is nobody's.
    """
    if claim == "email" and claims.get("email_verified") is not True:
        return frozenset()
    found = _found(claims, claim)
    listed = found if isinstance(found, list) else [found]
    return frozenset(each for each in listed[:VALUES_LIMIT] if isinstance(each, str))


def has_claim(claims: Claims, claim: str) -> bool:
    """Tell whether a claim is there at all, even if empty."""
    return _found(claims, claim) is not None


def _found(claims: Claims, claim: str) -> object:
    if claim in claims:  # Some providers' claims are addresses, with dots of their own.
        return claims[claim]
    found: object = claims
    for part in claim.split(".", DEPTH_LIMIT):
        found = found.get(part) if isinstance(found, dict) else None
    return found


def _name(claims: Claims, settings: OidcSettings) -> str:
    """Return a name with an @, which no local user's has: nobody becomes one by a claim."""
    texts = (_text(claims, each) for each in (settings.console_oidc_name_claim, "email", "sub"))
    plain = next((made for made in map(_plain, texts) if made), "person")
    host = urlsplit(settings.console_oidc_issuer).hostname or "provider"
    left, _, right = plain.rpartition("@") if "@" in plain else (plain, "", host)
    return f"{left[:HALF_LIMIT_CHARACTERS]}@{right[:HALF_LIMIT_CHARACTERS]}"


def _text(claims: Claims, claim: str) -> str:
    is_open = claim == "email" and claims.get("email_verified") is not True
    found = None if is_open else _found(claims, claim)
    return found if isinstance(found, str) else ""


def _plain(text: str) -> str:
    ascii_only = unicodedata.normalize("NFKD", text[:200]).encode("ascii", "ignore").decode()
    return _UNFIT.sub("-", ascii_only.lower()).strip("-.@+")
