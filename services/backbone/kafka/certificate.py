"""Until when the certificate holds that our Kafka clients show to brokers.

A client reads it when it is opened, and shows it with each new connection (librdkafka 2868, open):
one that was replaced since counts once the program starts again.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from prometheus_client import Gauge

from services.backbone.log import logger

_FILE: Final = "ssl.certificate.location"
_INLINE: Final = "ssl.certificate.pem"

ENDS: Final = Gauge(
    "aldebaran_kafka_certificate_ends_timestamp_seconds",
    "When the certificate ends that is shown to brokers, as the program's first client has read it",
    ["file"],
)

log = logger(__name__)


def note_end(config: Mapping[str, Any]) -> None:
    """Tell when the certificate ends that a client shows which is about to be opened; without TLS
    it shows none, whatever its options name.
    """
    if "ssl" not in str(config.get("security.protocol", "")).lower():
        return
    for option in (_FILE, _INLINE):
        if value := config.get(option):
            _note(option, str(value))


@cache
def _note(option: str, value: str) -> None:
    """Of one file only once: a later client may show a newer one, and those before it do not."""
    # Imported here, as it takes some MiB of each program, and few have such a file.
    x509 = import_module("cryptography.x509")
    file = option if option == _INLINE else value
    try:
        pem = value.encode() if option == _INLINE else Path(value).read_bytes()
        first, *_ = x509.load_pem_x509_certificates(pem)
    except OSError:
        return  # the client itself tells what is wrong with it
    except ValueError:
        reason = "none that is headed `BEGIN CERTIFICATE` can be read: watch its end elsewhere"
        log.warning("certificate_end_not_known", file=file, reason=reason)
        return
    ENDS.labels(file).set(first.not_valid_after_utc.timestamp())
