"""What the e-mail channel can be told."""

from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from services.backbone.certificates import CaFile
from services.backbone.settings import OneLine, Port, Seconds, Settings

PLAIN_ADDRESS: Final = r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]{1,255}"
Address = Annotated[str, StringConstraints(pattern=f"^{PLAIN_ADDRESS}$")]


class EmailSettings(Settings):
    """Which relay, and as whom."""

    email_host: str = "127.0.0.1"
    """The relay."""
    email_port: Port = 25
    """The relay's port."""
    email_tls: Literal["none", "starttls", "tls"] = "none"
    """Whether the relay is spoken to in TLS: from the first byte (`tls`), or after STARTTLS."""
    email_ca_file: CaFile | None = None
    """Certificates (PEM) that the relay's is checked by, instead of the system's."""
    email_username: str | None = None
    """The user at the relay; without one there is no log-in."""
    email_password: OneLine | None = None
    """The user's password."""
    email_sender: Address = "aldebaran@localhost.localdomain"
    """Who writes; the domain is that of message ids too."""
    email_sender_name: str = "Aldebaran"
    """The name beside that address."""
    email_step_timeout_seconds: Seconds = 20.0
    """For each step before the content; the answer to the content has the whole send timeout."""

    email_keep_session_seconds: Annotated[float, Field(ge=0, le=240)] = 2.0
    """How long a session waits for the next mail; 0 opens one for each mail."""

    email_relay_log: Path | None = None
    """The log of our own relay, a Postfix: evidence after a doubt."""
    email_relay_log_limit_mib: Annotated[int, Field(ge=1, le=1024)] = 32
    """So much of its end is read at most, the rotated file with `.1` included."""
    email_absence_seconds: Annotated[float, Field(ge=60, le=86_400)] | None = 360.0
    """So long after the lease a mail that the log lacks counts as not taken: more than the relay
    waits for a sender that went silent (smtpd_timeout, 300 s). None: never."""
    email_look_up_after_seconds: tuple[Seconds, ...] = (1.0, 5.0, 30.0, 110.0)
    """When the log is read, from the beginning of a doubt."""

    @property
    def domain(self) -> str:
        """The sender's domain; also our name in the greeting and in message ids."""
        return self.email_sender.rpartition("@")[2]
