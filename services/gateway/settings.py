"""What the on-ramps can be told."""

from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field, ValidationInfo, field_validator

from services.backbone.kafka.producer import ProducerSettings
from services.backbone.settings import PREFIX, Seconds, StreamsSettings
from services.contracts.web import PublicAddress

MIB: Final = 1024 * 1024

BODY_LIMIT_MAX_BYTES: Final = 5 * MIB
"""A rejected body is kept whole, and base64 of it must fit into one record of 8 MiB."""


class OnrampSettings(ProducerSettings, StreamsSettings):
    """What all on-ramps can be told."""

    body_limit_bytes: Annotated[int, Field(ge=1024, le=BODY_LIMIT_MAX_BYTES)] = 4 * MIB
    """Largest request body or message, also after decompression."""
    batch_limit_events: Annotated[int, Field(ge=1, le=40_000)] = 10_000
    """Most events of one request or message."""
    inflight_limit_bytes: Annotated[int, Field(ge=MIB, le=4096 * MIB)] = 32 * MIB
    """Bodies held in memory at one time, announced ones too, and after decompression, so that over
    HTTP it is at least twice the largest body; of messages what is judged and waits for Kafka."""
    producer_timeout_seconds: Seconds = 4.0
    """Shorter than the time to drain, so that every request gets its answer before the end."""


class GatewaySettings(OnrampSettings):
    """What the HTTP on-ramp can be told."""

    api_keys: Literal["on", "off"] = "on"
    """Whether senders need a key; `off` lets in whoever reaches the port."""
    api_keys_file: Path | None = None
    """The file of keys' hashes and the streams that each may send to."""
    inflight_limit_requests: Annotated[int, Field(ge=1, le=100_000)] = 512
    """Most requests in work; one more is answered 429 at once."""
    body_timeout_seconds: Seconds = 10.0
    """How long a body may take to come."""
    gateway_public_url: PublicAddress = ""
    """Where publishers reach the gateway, which its pages name; empty: as the reader reached it."""
    answers_per_connection: Annotated[int, Field(ge=0, le=1_000_000_000)] = 1000
    """On average; then a publisher connects anew, maybe to another gateway. 0: without end."""

    @field_validator("inflight_limit_bytes")
    @classmethod
    def _has_room_for_one_body(cls, value: int, info: ValidationInfo) -> int:
        """A compressed body counts twice: the largest one would be told to come again for ever."""
        least = 2 * info.data.get("body_limit_bytes", 0)
        if value < least:
            raise ValueError(f"give it at least {least}, twice {PREFIX}BODY_LIMIT_BYTES")
        return value

    @field_validator("api_keys", mode="before")
    @classmethod
    def _yaml_reads_off_as_false(cls, value: Any) -> Any:
        return {True: "on", False: "off"}.get(value, value) if isinstance(value, bool) else value
