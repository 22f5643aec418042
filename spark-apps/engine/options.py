"""What every Spark app's settings come down to: where Spark runs, how Kafka is reached."""

from collections.abc import Mapping
from typing import Final

from pydantic import SecretStr

from services.contracts.topics import REJECTED_LIMIT_BYTES

_TIMEOUTS: Final[Mapping[str, str]] = {
    # A broker's pod that is gone is silent, and the next one has another address: with Java's own
    # 10 and 30 s nobody reads for half a minute from a broker that was back after nine seconds.
    "socket.connection.setup.timeout.ms": "2000",
    "socket.connection.setup.timeout.max.ms": "4000",
    # Nor does a broker say that it is stopped or cut off; Java's own is 30 s.
    "request.timeout.ms": "5000",
    # An admin client, by which Spark asks for offsets at each boundary, sees that such a request is
    # over only when something wakes it, else after a minute; this does (tests/integration/auditor).
    "metadata.max.age.ms": "3000",
    # Who leads now is asked before a lost leader is tried again: while a broker is being connected
    # to, Java's clients put the question to that one, try after try.
    "retry.backoff.max.ms": "200",
    "reconnect.backoff.ms": "500",
    "reconnect.backoff.max.ms": "500",
}

READING: Final[Mapping[str, str]] = {
    # Spark's source works off what one poll gave before it asks again, and each costs as much as
    # some events do; what may wait in the socket meanwhile is Linux's to choose, not Java's 64 KiB.
    "max.poll.records": "5000",
    "receive.buffer.bytes": "-1",
}
"""Options of clients that read, beside those of all; docs/reports/tuning.md has the figures."""

KEEPING_ASIDE: Final[Mapping[str, str]] = {
    "kafka.acks": "all",
    # In base64 a record may be longer than the 1 MiB that Java's clients send by themselves.
    "kafka.max.request.size": str(REJECTED_LIMIT_BYTES),
}
"""What Spark's sink is told besides, where records that could not be used are kept aside."""


def master_url(configured: str, slots: int) -> str:
    """Return where Spark runs: as configured, else in this process with `slots` threads."""
    return configured or f"local[{slots}]"


def kafka_client_options(bootstrap_servers: str, more: Mapping[str, SecretStr]) -> dict[str, str]:
    """Return a Kafka client's options in clear, without any prefix; `more` has the last word."""
    shown = {name: value.get_secret_value() for name, value in more.items()}
    return {"bootstrap.servers": bootstrap_servers, **_TIMEOUTS, **shown}
