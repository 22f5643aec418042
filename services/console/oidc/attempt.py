"""One try to log in, known to one browser: its cookie holds a secret, and all else follows.

Nothing is stored for who has not come back yet, so nobody can fill our tables from outside.
"""

import base64
import binascii
import hashlib
import hmac
from dataclasses import dataclass
from typing import Final

LASTS_SECONDS: Final = 600
SECRET_BYTES: Final = 32
COOKIE_LIMIT_CHARACTERS: Final = 3500
BACK_LIMIT_CHARACTERS: Final = 2000


@dataclass(frozen=True, slots=True)
class Attempt:
    """What the provider is told and hands back follows from the secret; one gives no other."""

    secret: bytes
    begun_s: int
    back: str

    @property
    def state(self) -> str:
        """What comes back with the code: the answer belongs to this browser."""
        return self._derived(b"state")

    @property
    def nonce(self) -> str:
        """What comes back inside the token: it was made for this try."""
        return self._derived(b"nonce")

    @property
    def verifier(self) -> str:
        """What turns the code into tokens (RFC 7636); 43 characters."""
        return self._derived(b"verifier")

    @property
    def challenge(self) -> str:
        """What the provider is told of the verifier beforehand, by the method S256."""
        return _spelled(hashlib.sha256(self.verifier.encode()).digest())

    def is_state(self, given: str) -> bool:
        """Tell whether an answer belongs to this try."""
        return hmac.compare_digest(self.state.encode(), given.encode("utf-8", "replace"))

    def is_over(self, now_s: float) -> bool:
        """Tell whether it has taken too long, or begins in the future."""
        return not 0 <= now_s - self.begun_s <= LASTS_SECONDS

    def cookie(self) -> str:
        """Return what the browser keeps."""
        return f"{_spelled(self.secret)}.{self.begun_s}.{_spelled(self.back.encode())}"

    def _derived(self, purpose: bytes) -> str:
        said = b"aldebaran oidc 1 " + purpose + b" %d " % self.begun_s + self.back.encode()
        return _spelled(hmac.new(self.secret, said, hashlib.sha256).digest())


def attempt_of(cookie: str) -> Attempt | None:
    """Return the try that a browser is at; None if it is at none."""
    secret, _, rest = cookie.partition(".")
    begun, _, back = rest.partition(".")
    if len(cookie) > COOKIE_LIMIT_CHARACTERS or not (begun.isdecimal() and len(begun) < 13):
        return None
    try:
        found = Attempt(_read(secret), int(begun), _read(back).decode())
    except ValueError:
        return None
    return found if len(found.secret) == SECRET_BYTES else None


def _spelled(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


def _read(text: str) -> bytes:
    try:
        padded = text + "=" * (-len(text) % 4)
        return base64.b64decode(padded.encode("ascii"), altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeError) as error:
        raise ValueError from error
