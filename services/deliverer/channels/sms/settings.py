"""What the SMS channel can be told."""

from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from services.backbone.certificates import CaFile
from services.backbone.settings import OneLine, Seconds, Settings
from services.contracts.web import PublicAddress, ServerAddress

AccountSid = Annotated[str, StringConstraints(pattern=r"^AC[0-9a-fA-F]{32}$")]
ServiceSid = Annotated[str, StringConstraints(pattern=r"^MG[0-9a-fA-F]{32}$")]
KeySid = Annotated[str, StringConstraints(pattern=r"^SK[0-9a-fA-F]{32}$")]
Sender = Annotated[
    str, StringConstraints(pattern=r"^(\+[1-9]\d{6,14}|\d{3,8}|[A-Za-z0-9 ]{1,11})$")
]


class SmsSettings(Settings):
    """Which account, from which sender, and how long a message may wait."""

    sms_account_sid: AccountSid
    """The account at Twilio."""
    sms_auth_token: OneLine | None = None
    """The account's token; needed unless there is an API key."""
    sms_api_key: KeySid | None = None
    """With `sms_api_key_secret`, used for requests instead of the account's token."""
    sms_api_key_secret: OneLine | None = None
    """The secret of that API key."""
    sms_sender: Sender | None = None
    """A number (E.164), short code or name that the account may send from."""
    sms_messaging_service: ServiceSid | None = None
    """Chooses the sender from its pool; with `sms_sender` too, that one of the pool."""
    sms_validity_seconds: Annotated[int, Field(ge=5, le=36_000)] = 600
    """Twilio gives a message up that it could not send for so long."""
    sms_segments_limit: Annotated[int, Field(ge=1, le=10)] = 3
    """Most segments of a message; a longer text is cut."""
    sms_absence_seconds: Annotated[float, Field(gt=0, le=86_400)] | None = None
    """After so long, and after the validity, a message that the list does not show counts as not
    taken. None: never, since Twilio does not say how late its list may be."""
    sms_connect_timeout_seconds: Seconds = 5.0
    """How long a connection may take to come about."""
    sms_keep_alive_seconds: Annotated[float, Field(ge=0, le=3600)] = 2.0
    """How long a connection waits for the next request; 0 opens one for each."""
    sms_look_up_after_seconds: tuple[Seconds, ...] = (2.0, 10.0, 30.0, 60.0, 110.0)
    """When Twilio's list is read, from the beginning of a doubt."""
    sms_look_up_timeout_seconds: Seconds = 15.0
    """For one reading of Twilio's list."""
    sms_api_url: ServerAddress = "https://api.twilio.com"
    """Where Twilio's API is."""
    sms_ca_file: CaFile | None = None
    """Certificates (PEM) that the server's is checked by, instead of the system's."""
    callbacks_public_url: PublicAddress = ""
    """Where Twilio reaches our callbacks' door; empty: no status callbacks."""

    @model_validator(mode="after")
    def _somebody_sends(self) -> Self:
        if self.sms_sender is None and self.sms_messaging_service is None:
            raise ValueError("set sms_sender, or sms_messaging_service")
        if (self.sms_api_key is None) != (self.sms_api_key_secret is None):
            raise ValueError("sms_api_key and sms_api_key_secret go together")
        if self.sms_api_key is None and self.sms_auth_token is None:
            raise ValueError("set sms_auth_token, or sms_api_key with sms_api_key_secret")
        return self

    @property
    def login(self) -> tuple[str, str]:
        """User name and password of requests."""
        if self.sms_api_key is not None and self.sms_api_key_secret is not None:
            return self.sms_api_key, self.sms_api_key_secret.get_secret_value()
        token = self.sms_auth_token
        return self.sms_account_sid, token.get_secret_value() if token else ""
