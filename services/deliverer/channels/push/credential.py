"""The one signed token that shows Apple who we are: renewed in time, and not too often."""

from typing import Final

import jwt
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

RENEW_AFTER_MS: Final = 45 * 60 * 1000
"""Apple refuses a token older than 60 minutes."""
EARLY_AFTER_MS: Final = 20 * 60 * 1000
"""Apple refuses more than one new token in 20 minutes."""


class Credential:
    """Signs, and remembers when; times in milliseconds since 1970."""

    def __init__(self, key: EllipticCurvePrivateKey, key_id: str, team_id: str) -> None:
        self._key = key
        self._key_id = key_id
        self._team_id = team_id
        self._signed = ""
        self._signed_at_ms = 0
        self._early_at_ms: int | None = None

    def at(self, now_ms: int) -> str:
        """Return the token to use now."""
        age = now_ms - self._signed_at_ms
        if not self._signed or not 0 <= age < RENEW_AFTER_MS:
            self._sign(now_ms)
        return self._signed

    def rejected(self, token: str, now_ms: int) -> bool:
        """Learn that Apple refused a token; return whether another one is worth a try."""
        if token != self._signed:
            return True
        if self._early_at_ms is not None and 0 <= now_ms - self._early_at_ms < EARLY_AFTER_MS:
            return False
        self._early_at_ms = now_ms
        self._sign(now_ms)
        return True

    def _sign(self, now_ms: int) -> None:
        claims = {"iss": self._team_id, "iat": now_ms // 1000}
        headers = {"kid": self._key_id}
        self._signed = jwt.encode(claims, self._key, algorithm="ES256", headers=headers)
        self._signed_at_ms = now_ms
