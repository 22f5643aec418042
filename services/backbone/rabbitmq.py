"""Where RabbitMQ is, as a setting: checked at the start, and never shown."""

from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, SecretStr

_FORM: Final = "must look like amqps://user:password@host:5671/virtual-host"


def _amqp_address(url: SecretStr) -> SecretStr:
    try:
        parts = urlsplit(url.get_secret_value())
        known = parts.scheme in ("amqp", "amqps") and parts.hostname and parts.port != 0
    except ValueError:  # its text may repeat a part of the value
        known = False
    if not known:
        raise ValueError(_FORM)
    return url


AmqpAddress = Annotated[SecretStr, AfterValidator(_amqp_address)]
"""amqp or, with TLS, amqps; user, password and virtual host are in the address."""
