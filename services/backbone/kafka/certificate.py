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

_OPTION: Final = "ssl.certificate.location"

ENDS: Final = Gauge(
    "aldebaran_kafka_certificate_ends_timestamp_seconds",
    "When the certificate ends that is shown to brokers, as the program's first client has read it",
    ["file"],
)


def note_end(config: Mapping[str, Any]) -> None:
    """Tell when the certificate of a client that is about to be opened ends; no other is shown."""
    if path := config.get(_OPTION):
        _note(str(path))


@cache
def _note(path: str) -> None:
    """Of one file only once: a later client may show a newer one, and those before it do not."""
    # Imported here, as it takes some MiB of each program, and few have such a file.
    x509 = import_module("cryptography.x509")
    try:
        first, *_ = x509.load_pem_x509_certificates(Path(path).read_bytes())
    except (OSError, ValueError):
        return  # the client itself tells what is wrong with it
    ENDS.labels(path).set(first.not_valid_after_utc.timestamp())
