"""A real login provider with a folder of its own: Glewlwyd, set up by its own API."""

import gzip
import shutil
import sqlite3
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx2
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from services.machine.ports import free_ports
from tests.integration.deliverer.waiting import until

GLEWLWYD: Final = Path("/usr/bin/glewlwyd")
MISSING: Final = "no Glewlwyd here: apt-get install glewlwyd"
CLIENT_ID, CLIENT_SECRET, PASSWORD = "console", "a-secret-of-plain-letters", "password 1"
_SAMPLE: Final = Path("/usr/share/doc/glewlwyd/glewlwyd.conf.sample.gz")
_TABLES: Final = Path("/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3")
_PLUGIN: Final[dict[str, Any]] = {
    "jwt-type": "rsa",
    "jwt-key-size": "256",
    "access-token-duration": 600,
    "refresh-token-duration": 600,
    "code-duration": 60,
    "auth-type-code-enabled": True,
    "auth-type-code-revoke-replayed": True,
    "subject-type": "public",
    "pkce-allowed": True,
    "pkce-method-plain-allowed": False,
    "jwks-show": True,
    "oauth-as-iss-id": True,
    "session-management-allowed": True,
    "session-cookie-name": "GLEWLWYD_SEEN",
    "session-cookie-expiration": 600,
    "email-claim": "no",
    "name-claim": "no",
    "claims": [
        {"name": name, "user-property": property_, "type": "string", "mandatory": True}
        for name, property_ in (("preferred_username", "username"), ("groups", "groups"))
    ],
}


@dataclass
class Glewlwyd:
    """One provider; `redirect_uri` is where its one client is led back to."""

    redirect_uri: str
    port: int = field(default_factory=lambda: free_ports(1)[0])
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="glewlwyd-")))

    def __post_init__(self) -> None:
        self._admin = httpx2.Client(base_url=f"{self.url}/api", timeout=60)
        self._browsers = [self._admin]

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    @property
    def issuer(self) -> str:
        return f"{self.url}/api/oidc"

    def start(self) -> None:
        with sqlite3.connect(self.folder / "glewlwyd.db") as tables:
            tables.executescript(_TABLES.read_text())
        self._write_settings()
        self._process = subprocess.Popen(
            [GLEWLWYD, f"--config-file={self.folder / 'glewlwyd.conf'}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until(self._logged_in, "Glewlwyd takes its admin")
        self._take_groups()
        plugin = {"module": "oidc", "name": "oidc", "display_name": "oidc"}
        self._ask("POST", "/mod/plugin/", plugin | {"parameters": self._plugin()})
        client = {"client_id": CLIENT_ID, "confidential": True, "client_secret": CLIENT_SECRET}
        client |= {"token_endpoint_auth_method": ["client_secret_basic"], "enabled": True}
        client |= {"redirect_uri": [self.redirect_uri], "authorization_type": ["code"]}
        self._ask("POST", "/client/", client)

    def stop(self) -> None:
        self.end()
        for each in self._browsers:
            each.close()
        shutil.rmtree(self.folder)

    def end(self) -> None:
        """End the program; what it knew stays in the folder."""
        self._process.terminate()
        self._process.wait(20)

    def add(self, name: str, groups: list[str]) -> httpx2.Client:
        """Make a person; return their browser, which has logged in there and agreed."""
        user = {"username": name, "password": PASSWORD, "scope": ["openid"], "enabled": True}
        self._ask("POST", "/user/", user | {"groups": groups})
        browser = httpx2.Client(timeout=60)
        self._browsers.append(browser)
        told = {"username": name, "password": PASSWORD}
        assert browser.post(f"{self.url}/api/auth/", json=told).status_code == 200
        agreed = browser.put(f"{self.url}/api/auth/grant/{CLIENT_ID}", json={"scope": "openid"})
        assert agreed.status_code == 200
        return browser

    def change_keys(self) -> None:
        """Sign by another key from now on, and publish that one only."""
        plugin = self._ask("GET", "/mod/plugin/oidc").json()
        self._ask("PUT", "/mod/plugin/oidc", plugin | {"parameters": self._plugin()})
        self._ask("PUT", "/mod/plugin/oidc/reset")

    def _write_settings(self) -> None:
        text = gzip.decompress(_SAMPLE.read_bytes()).decode()
        for line, ours in {
            "port=4593": f'port={self.port}\nbind_address="127.0.0.1"',
            "http://localhost:4593": self.url,
            "/var/cache/glewlwyd": str(self.folder),
            'cookie_domain="localhost"': "",  # The test's browser takes no cookie for that name.
            "cookie_secure=1": "cookie_secure=0",
        }.items():
            assert line in text
            text = text.replace(line, ours)
        (self.folder / "glewlwyd.conf").write_text(text)

    def _logged_in(self) -> bool:
        assert self._process.poll() is None, "Glewlwyd ended at its start"
        try:
            told = {"username": "admin", "password": "password"}
            return self._admin.post("/auth/", json=told).status_code == 200
        except httpx2.TransportError:
            return False

    def _take_groups(self) -> None:
        """Let people have a list of groups, which is then told in their tokens."""
        module = self._ask("GET", "/mod/user/database").json()
        kept = module["parameters"].setdefault("data-format", {})
        kept["groups"] = {"multiple": True, "read": True, "write": True}
        self._ask("PUT", "/mod/user/database", module)
        self._ask("PUT", "/mod/reload/")

    def _plugin(self) -> dict[str, Any]:
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        private = key.private_bytes(
            Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()
        ).decode()
        public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        return _PLUGIN | {"iss": self.issuer, "key": private, "cert": public.decode()}

    def _ask(self, method: str, path: str, body: Any = None) -> httpx2.Response:
        answer = self._admin.request(method, path, json=body)
        assert answer.status_code == 200, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer
