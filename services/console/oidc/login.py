"""Letting somebody in whom the login provider vouches for; every try is in the audit log."""

import secrets
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlencode, urlsplit, urlunsplit

from services.backbone.clock import Clock
from services.backbone.errors import Refused
from services.backbone.log import logger
from services.backbone.web.problems import Problem
from services.console.oidc.attempt import BACK_LIMIT_CHARACTERS, SECRET_BYTES, Attempt
from services.console.oidc.identity import Identity, has_claim, identity_of
from services.console.oidc.provider import Provider, Refusal
from services.console.oidc.settings import OidcSettings
from services.console.oidc.tokens import BadToken, Claims, Expected, UnknownKey, checked
from services.console.people.audit import Audit, Deed
from services.console.people.brake import Brake, by_address
from services.console.people.guests import Guests
from services.console.people.roles import Person, Role
from services.console.people.sessions import Sessions

log = logger(__name__)

AT_ONCE: Final = 4
"""Tries that may wait for the provider at once; it may be slow, and our threads are few."""
WAIT_SECONDS: Final = 1.0
CODE_LIMIT_CHARACTERS: Final = 4096


@dataclass(frozen=True, slots=True)
class Return:
    """What the provider hands a browser to bring us."""

    state: str = ""
    code: str = ""
    error: str = ""
    iss: str = ""


@dataclass
class OidcLogin:
    """Sends people to the provider, and lets in who comes back with its word."""

    provider: Provider
    guests: Guests
    sessions: Sessions
    audit: Audit
    brake: Brake
    gate: threading.BoundedSemaphore = field(
        default_factory=lambda: threading.BoundedSemaphore(AT_ONCE)
    )

    @property
    def settings(self) -> OidcSettings:
        """What was said about the provider."""
        return self.provider.settings

    @property
    def clock(self) -> Clock:
        """The provider's and ours."""
        return self.provider.clock

    def begin(self, back: str) -> tuple[str, Attempt]:
        """Return the provider's page to go to, and the try that the browser's cookie keeps.

        Raises:
            Problem: 503 the provider is away; 502 it cannot be used.
        """
        kept = back if len(back) <= BACK_LIMIT_CHARACTERS else "/"
        attempt = Attempt(secrets.token_bytes(SECRET_BYTES), self.clock.now_ms() // 1000, kept)
        with self._at_provider():
            page = self.provider.pages().authorization_endpoint
        asked = {
            "response_type": "code",
            "client_id": self.settings.console_oidc_client_id,
            "redirect_uri": self.settings.oidc_callback_url,
            "scope": self.settings.console_oidc_scopes,
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": attempt.challenge,
            "code_challenge_method": "S256",
        }
        return with_query(page, asked), attempt

    def finish(self, attempt: Attempt | None, given: Return, address: str) -> str:
        """Return the token of a new session.

        Raises:
            Problem: 401 no try of this browser, or no word of the provider; 403 no role;
                429 too many failures; 503 the provider is away; 502 it cannot be used.
        """
        if attempt is None or not attempt.is_state(given.state):
            raise Problem(401, "no_such_try", f"this login is not of this browser; {self._again()}")
        if attempt.is_over(self.clock.now_ms() / 1000):
            raise Problem(401, "too_late", f"this login took too long; {self._again()}")
        callers = by_address(address)
        self.brake.check(callers)
        try:
            claims = self._claims(attempt, given)
        except (Refusal, BadToken) as fault:
            self.brake.failed(callers)
            self._note_refused("", f"from {address} by oidc: {fault}")
            detail = f"the login provider does not vouch for you ({_told(fault)}); {self._again()}"
            raise Problem(401, "not_you", detail) from None
        token = self._let_in(identity_of(claims, self.settings), address)
        self.brake.succeeded(callers)
        return token

    def leaving(self) -> str | None:
        """Return the provider's page to log out there too; None if it has none, or is away."""
        try:
            with self._at_provider():
                page = self.provider.pages().end_session_endpoint
        except Problem:
            return None
        asked = {
            "client_id": self.settings.console_oidc_client_id,
            "post_logout_redirect_uri": self.settings.console_public_url,
        }
        return with_query(page, asked) if page else None

    def _claims(self, attempt: Attempt, given: Return) -> Claims:
        if given.error:
            raise Refusal(given.error)
        with self._at_provider():
            self._check_sender(given)
            told = self.provider.redeem(given.code[:CODE_LIMIT_CHARACTERS], attempt.verifier)
            claims = self._checked(told.get("id_token"), attempt)
            return self._completed(claims, told.get("access_token"))

    def _check_sender(self, given: Return) -> None:
        """Heed RFC 9207: the answer is of this provider and of no other."""
        must = self.provider.pages().authorization_response_iss_parameter_supported
        if (given.iss or must) and given.iss != self.settings.console_oidc_issuer:
            raise BadToken("the answer is of another provider (iss)")

    def _checked(self, token: object, attempt: Attempt) -> Claims:
        if not isinstance(token, str):
            raise BadToken("there is no ID token; the scope `openid` has to be asked for")
        expected = Expected(
            issuer=self.settings.console_oidc_issuer,
            client_id=self.settings.console_oidc_client_id,
            nonce=attempt.nonce,
            now_s=self.clock.now_ms() / 1000,
            skew_s=self.settings.console_oidc_skew_seconds,
        )
        try:
            return checked(token, self.provider.keys(), expected)
        except UnknownKey:
            return checked(token, self.provider.keys(again=True), expected)

    def _completed(self, claims: Claims, access_token: object) -> Claims:
        """Add what only the provider's page about people tells; some keep tokens that short."""
        wanted = (self.settings.console_oidc_roles_claim, self.settings.console_oidc_name_claim)
        if all(has_claim(claims, each) for each in wanted) or not isinstance(access_token, str):
            return claims
        more = self.provider.more_about(access_token)
        if more and more.get("sub") != claims["sub"]:
            raise BadToken("the page about people speaks of somebody else (sub)")
        return {**more, **claims}

    def _let_in(self, identity: Identity, address: str) -> str:
        if identity.role is None:
            self._note_refused(identity.name, f"from {address} by oidc: no role")
            claim = self.settings.console_oidc_roles_claim
            detail = f"you are {identity.name}, and nothing in `{claim}` gives you a role here"
            raise Problem(403, "no_role", f"{detail}; ask an admin of this console for one")
        try:
            name = self.guests.arrive(
                identity.issuer, identity.subject, identity.name, identity.role
            )
        except Refused as error:
            self._note_refused(identity.name, f"from {address} by oidc: {error}")
            raise Problem(403, "not_let_in", str(error)) from None
        person = Person(name, identity.role, "page")
        self.audit.note(person, Deed("log in", name, f"from {address} by oidc"))
        return self.sessions.open(name)

    def _note_refused(self, name: str, detail: str) -> None:
        nobody = Person("", Role.VIEWER, "page")
        self.audit.note(nobody, Deed("log in", name or "somebody", detail, "refused"))

    def _again(self) -> str:
        return f"begin again at {self.settings.console_public_url}"

    @contextmanager
    def _at_provider(self) -> Iterator[None]:
        if not self.gate.acquire(timeout=WAIT_SECONDS):
            raise Problem(503, "busy", "too many log in at once; try again", {"Retry-After": "2"})
        try:
            yield
        finally:
            self.gate.release()


def with_query(page: str, asked: Mapping[str, str]) -> str:
    """Return an address with more questions; those that it has already stay."""
    parts = urlsplit(page)
    query = "&".join(each for each in (parts.query, urlencode(asked)) if each)
    return urlunsplit(parts._replace(query=query, fragment=""))


def _told(fault: Refusal | BadToken) -> str:
    """Return what may be said to people: the provider's word, and of a bad token nothing more."""
    return fault.word if isinstance(fault, Refusal) else "its token is not good"
