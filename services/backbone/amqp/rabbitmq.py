"""Where RabbitMQ is, as a setting: checked at the start, and never shown; and a way to it."""

import asyncio
from typing import Annotated, Any, Final
from urllib.parse import parse_qs, urlsplit

import aio_pika
from aio_pika.abc import AbstractConnection
from aiormq.connection import TransportFactory
from pydantic import AfterValidator, SecretStr
from yarl import URL

from services.backbone.certificates import Certificates
from services.backbone.dialling import dialled

HEARTBEAT_SECONDS: Final = 10
"""A node without power is missed after 33 to 38 s; the client's own 60 made it 183 to 213 s."""

_FILES: Final = frozenset({"cafile", "capath", "cadata", "certfile", "keyfile"})
"""By which an address can say how the server is checked, and what it is shown."""
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


def files_named(url: SecretStr) -> list[str]:
    """Return by which of its parts an address names certificates, as by `?cafile=`."""
    return sorted(_FILES & parse_qs(urlsplit(url.get_secret_value()).query).keys())


def certificates_for(
    prefix: str,
    url: SecretStr,
    ca_file: str | None,
    certificate_file: str | None,
    key_file: str | None,
) -> Certificates | None:
    """Return how the server is checked and what it is shown, by settings; None without TLS.

    Raises:
        ValueError: our own cannot be shown; it names the settings, which begin with the prefix.
    """
    if urlsplit(url.get_secret_value()).scheme != "amqps":
        return None
    try:
        return Certificates(ca_file, certificate_file, key_file)
    except ValueError as error:
        raise ValueError(f"{prefix}_certificate_file, {prefix}_key_file: {error}") from None


class _Dialled(TransportFactory):
    """Opens connections to whichever address of the name answers, on any event loop."""

    async def create(
        self, url: URL, **given: Any
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Dial, and shake hands where the address asks for TLS."""
        tls = await given["ssl_context_provider"].get_context() if url.scheme == "amqps" else None
        there = await dialled(url.host or "", url.port or 0)
        name = url.host if tls else None
        return await asyncio.open_connection(sock=there, ssl=tls, server_hostname=name)


class _Connection(aio_pika.Connection):
    def __init__(self, url: URL, **given: Any) -> None:
        super().__init__(url, **given)
        self.kwargs["transport_factory"] = _Dialled()


async def connect(
    url: SecretStr, name: str, *, certificates: Certificates | None, timeout_seconds: float
) -> AbstractConnection:
    """Open a connection, which RabbitMQ lists by this name unless the address gives another.

    Raises:
        any of LOST, within `told_as_lost`: there is none.
    """
    address = URL(url.get_secret_value())
    connection = _Connection(
        _with_heartbeat(address),
        ssl_context=None if certificates is None else certificates.tls(),
        client_properties={"connection_name": address.query.get("name") or name},
    )
    try:
        await connection.connect(timeout=timeout_seconds)
    except BaseException:
        await connection.close()  # or it closes itself whenever it is collected, on no loop maybe
        raise
    return connection


def _with_heartbeat(address: URL) -> URL:
    """Say how soon a silent server is missed, unless the address says it."""
    if "heartbeat" in address.query:
        return address
    return address.update_query(heartbeat=str(HEARTBEAT_SECONDS))
