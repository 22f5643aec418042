"""What the NRDP channel can be told."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field, SecretStr

from services.backbone.certificates import CaFile
from services.backbone.settings import CONTROLS, OneLine, Seconds, Settings
from services.contracts.web import ServerAddress
from services.deliverer.channels.nagios.wording import InfoState


def _login_name(name: str) -> str:
    if re.search(f"[:{CONTROLS}]", name.strip()):
        raise ValueError("a user's name has no colon and no control character: no log-in takes one")
    return name.strip()


LoginName = Annotated[str, AfterValidator(_login_name)]


class NrdpSettings(Settings):
    """Which NRDP, and with what token."""

    nrdp_url: ServerAddress = "http://127.0.0.1/nrdp/"
    """Where NRDP is."""
    nrdp_token: OneLine = SecretStr("")
    """One of `authorized_tokens` of the server."""
    nrdp_username: LoginName | None = None
    """For servers with require_basic_auth."""
    nrdp_password: OneLine = SecretStr("")
    """The password of that user."""
    nrdp_info_state: InfoState = 1
    """0 would tell that all is well, and so would end an earlier alert of the same service."""
    nrdp_dedupes: bool = False
    """Whether a repeat does no harm: no service is volatile, each has one source of alerts."""
    nrdp_connect_timeout_seconds: Seconds = 5.0
    """How long a connection may take to come about."""
    nrdp_ca_file: CaFile | None = None
    """Certificates (PEM) that the server's is checked by, instead of the system's."""
    nrdp_status_url: ServerAddress | None = None
    """Where statusjson.cgi and archivejson.cgi of that Nagios are; evidence after a doubt."""
    nrdp_status_username: LoginName | None = None
    """The user there."""
    nrdp_status_password: OneLine = SecretStr("")
    """The user's password."""
    nrdp_status_timeout_seconds: Seconds = 10.0
    """For each question there."""
    nrdp_absence_seconds: Annotated[float, Field(ge=30, le=86_400)] | None = 300.0
    """So long after the lease a result that Nagios lacks counts as not taken: more than the web
    server may work on a request whose sender is gone. None: never."""
    nrdp_look_up_after_seconds: tuple[Seconds, ...] = (15.0, 45.0, 110.0)
    """When Nagios is asked, from the beginning of a doubt; it reads its spool every ten seconds."""
