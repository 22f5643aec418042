"""Which exchange feeds which stream, from YAML."""

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Final, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from services.backbone.errors import Refused
from services.contracts.records import Name, describe
from services.contracts.yaml_values import read_yaml

SHIPPED_BINDINGS: Final = Path(__file__).with_name("bindings.yaml")
OVERSIZED_SUFFIX: Final = ".oversized"

ROUTING_KEY_LIMIT_BYTES: Final = 255
"""AMQP has no room for more."""


def _short_enough(key: str) -> str:
    if len(key.encode()) > ROUTING_KEY_LIMIT_BYTES:
        raise ValueError(f"it has at most {ROUTING_KEY_LIMIT_BYTES} bytes")
    return key


# The client's own limits: of what it cannot say to RabbitMQ it tells only when it has to say it.
AmqpName = Annotated[str, Field(pattern=r"^[a-zA-Z0-9_.:@#,/+ -]+$")]
ExchangeName = Annotated[AmqpName, Field(max_length=127)]
QueueName = Annotated[AmqpName, Field(max_length=200)]
RoutingKey = Annotated[str, AfterValidator(_short_enough)]


class Binding(BaseModel):
    """One durable queue, bound to one exchange, feeding one stream."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    exchange: ExchangeName
    exchange_type: Literal["topic", "direct", "fanout", "headers"] = "topic"
    declare_exchange: bool = True
    """False: the exchange belongs to somebody else, and must be there."""
    routing_keys: Annotated[tuple[RoutingKey, ...], Field(min_length=1, max_length=100)] = ("#",)
    queue: QueueName
    stream: Name

    @property
    def oversized_queue(self) -> str:
        """The queue where messages wait that are too large to be taken or kept aside."""
        return self.queue + OVERSIZED_SUFFIX


class BindingsFile(BaseModel):
    """The file of bindings."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    bindings: Annotated[tuple[Binding, ...], Field(min_length=1, max_length=100)]


def load_bindings(path: Path, streams: Collection[str]) -> tuple[Binding, ...]:
    """Read the file of bindings.

    Raises:
        Refused: with the file, the place and the reason.
    """
    try:
        bindings = BindingsFile.model_validate(read_yaml(path.read_text())).bindings
    except ValidationError as error:
        raise Refused(f"{path.name}: {describe(error)}") from None
    except (yaml.YAMLError, OSError, UnicodeDecodeError) as error:
        raise Refused(f"{path.name}: {error}") from None
    if unknown := {each.stream for each in bindings} - set(streams):
        raise Refused(
            f"{path.name}: no stream {', '.join(sorted(unknown))}; declared are "
            f"{', '.join(sorted(streams))}; ALDEBARAN_AMQP_BINDINGS_FILE names another file"
        )
    if len({each.queue for each in bindings}) < len(bindings):
        raise Refused(f"{path.name}: two bindings have the same queue")
    return bindings
