"""A login provider of our own: real HTTP, real keys, and it lies when told."""

import base64
import hashlib
import json
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote_plus, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from services.backbone.clock import Clock, SystemClock
from services.console.oidc.settings import OidcSettings

CLIENT_ID, CLIENT_SECRET = "console", "s3cret & more"
ROLES = {"on-call": "responder", "leads": "admin"}
Claims = dict[str, Any]


@dataclass
class Key:
    """A signing key and its name."""

    kid: str = field(default_factory=lambda: secrets.token_hex(4))
    private: rsa.RSAPrivateKey = field(
        default_factory=lambda: rsa.generate_private_key(public_exponent=65537, key_size=2048)
    )

    def published(self) -> Claims:
        jwk: Claims = jwt.algorithms.RSAAlgorithm.to_jwk(self.private.public_key(), as_dict=True)
        return jwk | {"kid": self.kid, "use": "sig", "alg": "RS256"}

    def pem(self) -> bytes:
        public = self.private.public_key()
        return public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

    def sign(self, claims: Claims, **header: Any) -> str:
        return jwt.encode(claims, self.private, "RS256", {"kid": self.kid} | header)


@dataclass
class Code:
    """What a code is worth, once."""

    challenge: str
    redirect_uri: str
    nonce: str


@dataclass
class LoginProvider:
    """Lets everybody in who comes, as the `person`; checks what a real one checks of us."""

    port: int = 0
    person: Claims = field(
        default_factory=lambda: {"sub": "u-1", "preferred_username": "Ann", "groups": ["on-call"]}
    )
    key: Key = field(default_factory=Key)
    published: list[Key] = field(default_factory=list)
    tell: Callable[[Claims], Claims] = lambda claims: claims
    sign: Callable[[Claims], str] | None = None
    about: Claims = field(default_factory=dict)
    status: int = 200
    words: Claims = field(default_factory=dict)
    """Overrides of the discovery document."""
    codes: dict[str, Code] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    clock: Clock = field(default_factory=SystemClock)

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answer(self, path: str, form: dict[str, str], authorization: str) -> tuple[int, Claims]:
        self.asked.append(path)
        if self.status != 200:
            return self.status, {}
        if path == "/token":
            return self._redeemed(form, authorization)
        if path == "/about" and authorization != "Bearer at-1":
            return 401, {"error": "invalid_token"}
        keys = [each.published() for each in self.published or [self.key]]
        told: dict[str, Claims] = {
            "/.well-known/openid-configuration": self._pages() | self.words,
            "/keys": {"keys": keys},
            "/about": self.about,
        }
        return 200, told.get(path, {})

    def authorize(self, asked: dict[str, str]) -> str:
        """Return where the person is led, with a code."""
        assert asked["code_challenge_method"] == "S256"
        assert asked["response_type"] == "code"
        code = secrets.token_hex(8)
        uri = asked["redirect_uri"]
        self.codes[code] = Code(asked["code_challenge"], uri, asked["nonce"])
        back = {"code": code, "state": asked["state"], "iss": self.issuer}
        return f"{uri}?{urlencode(back)}"

    def _pages(self) -> Claims:
        names = {"authorization_endpoint": "/authorize", "token_endpoint": "/token"}
        names |= {"jwks_uri": "/keys", "userinfo_endpoint": "/about"}
        pages = {name: self.issuer + path for name, path in names.items()}
        return pages | {"issuer": self.issuer, "end_session_endpoint": f"{self.issuer}/out?x=1"}

    def _redeemed(self, form: dict[str, str], authorization: str) -> tuple[int, Claims]:
        if not _is_ours(authorization):
            return 401, {"error": "invalid_client"}
        code = self.codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if not code or (code.challenge, code.redirect_uri) != (challenge, form["redirect_uri"]):
            self.refused.append("invalid_grant")
            return 400, {"error": "invalid_grant"}
        claims = self.tell(self.claims(code.nonce))
        token = self.sign(claims) if self.sign else self.key.sign(claims)
        return 200, {"id_token": token, "access_token": "at-1", "token_type": "Bearer"}

    def claims(self, nonce: str) -> Claims:
        now = self.clock.now_ms() // 1000
        told = {"iss": self.issuer, "aud": CLIENT_ID, "iat": now, "exp": now + 300}
        return self.person | told | {"nonce": nonce}


def _is_ours(authorization: str) -> bool:
    word, _, given = authorization.partition(" ")
    name, _, secret = base64.b64decode(given).decode().partition(":")
    return (word, unquote_plus(name), unquote_plus(secret)) == ("Basic", CLIENT_ID, CLIENT_SECRET)


def settings_for(provider: LoginProvider, url: str, **more: Any) -> OidcSettings:
    given: dict[str, Any] = {
        "console_public_url": url,
        "console_oidc_issuer": provider.issuer,
        "console_oidc_client_id": CLIENT_ID,
        "console_oidc_client_secret": CLIENT_SECRET,
        "console_oidc_roles": ROLES,
        "console_oidc_label": "Keyring",
        "console_oidc_timeout_seconds": 30,
    }
    return OidcSettings(**given | more)


@contextmanager
def login_provider() -> Iterator[LoginProvider]:
    """Run one; its port is answered by nobody once this is over."""
    made = LoginProvider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # named by the library
            self._do({})

        def do_POST(self) -> None:  # named by the library
            size = int(self.headers["Content-Length"])
            self._do(dict(parse_qsl(self.rfile.read(size).decode(), keep_blank_values=True)))

        def log_message(self, *_: object) -> None:
            return

        def _do(self, form: dict[str, str]) -> None:
            asked = urlsplit(self.path)
            if asked.path == "/authorize":
                self.send_response(303)
                self.send_header("Location", made.authorize(dict(parse_qsl(asked.query))))
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            authorization = self.headers.get("Authorization", "")
            status, told = made.answer(asked.path, form, authorization)
            body = json.dumps(told).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        made.port = server.server_port
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield made
        finally:
            server.shutdown()
            thread.join(10)
