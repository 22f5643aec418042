"""Files of certificates in settings: opened at the start, where a slip can be told by its name, and
again once they are replaced, as certificates end while programs run.
"""

import os
import ssl
from typing import Annotated, Final

from pydantic import AfterValidator

from services.backbone.log import logger

log = logger(__name__)


def _certificates(path: str) -> str:
    try:
        ssl.create_default_context(cafile=path)
    except OSError as error:
        raise ValueError(f"cannot be read as certificates (PEM): {error.strerror}") from None
    return path


CaFile = Annotated[str, AfterValidator(_certificates)]
"""A file of certificates (PEM) by which a server's is checked."""
_Stamp = tuple[int, int, int, int] | None


class Certificates:
    """By which servers are checked, and our own where it is shown, as their files are now.

    What cannot be used, such as a file that is half written, changes nothing and is told once.
    """

    def __init__(
        self,
        ca_file: str | None,
        certificate_file: str | None = None,
        key_file: str | None = None,
    ) -> None:
        """Read the files; without one of CAs those count that the system trusts.

        Raises:
            ValueError: our own cannot be read, or certificate and key do not belong together.
        """
        self._ca_file, self._certificate_file, self._key_file = ca_file, certificate_file, key_file
        self._files: Final = [each for each in (ca_file, certificate_file, key_file) if each]
        self._seen = self._stamps()
        self._context = self._anew()

    def tls(self) -> ssl.SSLContext:
        """Return the context for one more connection: another once the files are others."""
        stamps = self._stamps()
        if stamps != self._seen:
            self._seen = stamps
            self._renew()
        return self._context

    def _renew(self) -> None:
        try:
            self._context = self._anew()
        except (OSError, ValueError) as error:
            reason = f"{error}; those of before stay in use until the files are whole"
            log.warning("certificates_unusable", files=self._files, reason=reason)
        else:
            log.info("certificates_renewed", files=self._files)

    def _anew(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=self._ca_file)
        if self._certificate_file:
            _show(context, self._certificate_file, self._key_file)
        return context

    def _stamps(self) -> list[_Stamp]:
        return [_stamp(each) for each in self._files]


def _show(context: ssl.SSLContext, certificate_file: str, key_file: str | None) -> None:
    try:
        context.load_cert_chain(certificate_file, key_file)
    except OSError as error:
        raise ValueError(f"cannot be read as certificate and key (PEM): {error.strerror}") from None


def _stamp(path: str) -> _Stamp:
    """Tell one state of a file from another; None while it is not there."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    # Who may read it changes only the last: it may be made readable after it was written.
    return found.st_mtime_ns, found.st_size, found.st_ino, found.st_ctime_ns
