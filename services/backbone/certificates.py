"""Files of certificates in settings: opened at the start, where a slip can be told by its name."""

import ssl
from typing import Annotated

from pydantic import AfterValidator


def _certificates(path: str) -> str:
    try:
        ssl.create_default_context(cafile=path)
    except OSError as error:
        raise ValueError(f"cannot be read as certificates (PEM): {error.strerror}") from None
    return path


CaFile = Annotated[str, AfterValidator(_certificates)]
"""A file of certificates (PEM) by which a server's is checked."""


def with_own(context: ssl.SSLContext, certificate_file: str, key_file: str | None) -> None:
    """Have a connection show our own certificate; the key may stand in the same file.

    Raises:
        ValueError: they cannot be read, or do not belong together.
    """
    try:
        context.load_cert_chain(certificate_file, key_file)
    except OSError as error:
        raise ValueError(f"cannot be read as certificate and key (PEM): {error.strerror}") from None
