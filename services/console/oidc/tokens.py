"""What makes an ID token good (OpenID Connect Core 3.1.3.7): a decision over plain values."""

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import jwt
from jwt import PyJWK

KEYS_LIMIT: Final = 50
SUBJECT_LIMIT_CHARACTERS: Final = 255

_RSA: Final = ("RSA", "")
_KEY_OF: Final[Mapping[str, tuple[str, str]]] = {
    **{f"{family}{bits}": _RSA for family in ("RS", "PS") for bits in (256, 384, 512)},
    "ES256": ("EC", "P-256"),
    "ES384": ("EC", "P-384"),
    "ES512": ("EC", "P-521"),
    "EdDSA": ("OKP", "Ed25519"),
}
"""Each algorithm with its kind of key and curve. Only such where whoever can check cannot sign:
`none` and HS256, which takes a public key for a password, are not among them."""
_OPTIONS: Final[Any] = {
    "require": ["iss", "sub", "aud", "exp", "iat"],
    # Times are compared below, by the clock that is passed in.
    "verify_exp": False,
    "verify_nbf": False,
    "verify_iat": False,
    "enforce_minimum_key_length": True,
}

Jwk = Mapping[str, Any]
"""A public key as the provider publishes it (RFC 7517)."""
Claims = Mapping[str, Any]


class BadToken(Exception):
    """The token proves nothing; the message says why, for the log."""


class UnknownKey(BadToken):
    """Signed by a key that we have not seen: the provider may have changed its keys."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What a token has to be."""

    issuer: str
    client_id: str
    nonce: str
    now_s: float
    skew_s: float


def checked(token: str, keys: Sequence[Jwk], expected: Expected) -> Claims:
    """Return what a token says.

    Raises:
        UnknownKey: another look at the provider's keys may help.
        BadToken: it is not signed by the provider, or not for us, now and this try.
    """
    claims = _signed(token, keys, expected)
    _for_us(claims, expected)
    _for_now(claims, expected)
    given = claims.get("nonce")
    if not isinstance(given, str) or not _same(given, expected.nonce):
        raise BadToken("its nonce is of another try")
    return claims


def _signed(token: str, keys: Sequence[Jwk], expected: Expected) -> Claims:
    try:
        header = jwt.get_unverified_header(token)
        algorithm = header.get("alg")
        if not isinstance(algorithm, str) or algorithm not in _KEY_OF:
            raise BadToken(f"signed by {str(algorithm)[:20]!r}, which is not taken")
        fitting = [key for key in keys[:KEYS_LIMIT] if _fits(key, algorithm, header.get("kid"))]
        return _by_one_of(fitting, token, algorithm, expected)
    except jwt.PyJWTError as error:
        raise BadToken(f"{type(error).__name__}: {error}"[:200]) from error


def _fits(key: Jwk, algorithm: str, kid: object) -> bool:
    kind, curve = _KEY_OF[algorithm]
    return (
        key.get("kty") == kind
        and (not curve or key.get("crv") == curve)
        and key.get("use", "sig") == "sig"
        and key.get("alg", algorithm) == algorithm
        and (kid is None or key.get("kid") == kid)
    )


def _by_one_of(keys: Sequence[Jwk], token: str, algorithm: str, expected: Expected) -> Claims:
    for key in keys:
        try:
            claims: Claims = jwt.decode(
                token,
                PyJWK(dict(key), algorithm).key,
                algorithms=[algorithm],
                audience=expected.client_id,
                issuer=expected.issuer,
                options=_OPTIONS,
            )
        except jwt.InvalidSignatureError:
            continue
        return claims
    raise UnknownKey("none of the provider's keys has signed it")


def _for_us(claims: Claims, expected: Expected) -> None:
    audience, party = claims["aud"], claims.get("azp")
    shared = isinstance(audience, list) and len(audience) > 1
    if (shared or party is not None) and party != expected.client_id:
        raise BadToken("it was made for another client (azp)")
    subject = claims["sub"]
    if not isinstance(subject, str) or not 0 < len(subject) <= SUBJECT_LIMIT_CHARACTERS:
        raise BadToken("it names no subject")
    if "\0" in subject:
        raise BadToken("its subject cannot be kept")


def _for_now(claims: Claims, expected: Expected) -> None:
    now, skew = expected.now_s, expected.skew_s
    if _time(claims, "exp") <= now - skew:
        raise BadToken("it is over (exp)")
    if _time(claims, "iat") > now + skew:
        raise BadToken("it comes from the future (iat): compare the clocks")
    if "nbf" in claims and _time(claims, "nbf") > now + skew:
        raise BadToken("it is not good yet (nbf): compare the clocks")


def _time(claims: Claims, name: str) -> float:
    value = claims[name]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadToken(f"its {name} is no time")
    return value


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode())
