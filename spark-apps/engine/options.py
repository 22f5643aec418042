"""What every Spark app's settings come down to: where Spark runs, how Kafka is reached."""

from collections.abc import Mapping

from pydantic import SecretStr


def master_url(configured: str, slots: int) -> str:
    """Return where Spark runs: as configured, else in this process with `slots` threads."""
    return configured or f"local[{slots}]"


def kafka_client_options(bootstrap_servers: str, more: Mapping[str, SecretStr]) -> dict[str, str]:
    """Return the options of a Kafka client in clear, without any prefix."""
    shown = {name: value.get_secret_value() for name, value in more.items()}
    return {"bootstrap.servers": bootstrap_servers} | shown
