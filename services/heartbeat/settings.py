"""What the heartbeat can be told."""

from typing import Annotated

from pydantic import Field

from services.backbone.kafka.producer import ProducerSettings
from services.backbone.settings import (
    BatchesSettings,
    Seconds,
    StreamsSettings,
    WatchesSettings,
)
from services.contracts.records import Name
from services.heartbeat.beats import AUDITORS_LIMIT


class HeartbeatSettings(ProducerSettings, StreamsSettings, WatchesSettings, BatchesSettings):
    """Which watches to measure, how often, and from when on an answer counts as missed."""

    heartbeat_interval_seconds: Annotated[float, Field(ge=0.05, le=3600)] = 2.0
    """Between two beats of a watch."""
    heartbeat_in_time_seconds: Annotated[float, Field(gt=0, le=60)] = 10.0
    """An answer that takes longer counts as missed."""
    heartbeat_auditors: Annotated[tuple[Name, ...], Field(max_length=AUDITORS_LIMIT)] = ()
    """Ids of the auditors that should answer; others count too, once they have answered."""
    heartbeat_agree_seconds: Annotated[float, Field(ge=1, le=3600)] = 60.0
    """How long an auditor in step may take to raise what another has raised."""
    heartbeat_reload_delay_seconds: Seconds = 2.0
    """How long changed files must stay as they are before the change is taken."""
    producer_timeout_seconds: Annotated[float, Field(gt=0, le=60)] = 10.0
    """After so long a beat that the brokers have not taken is given up."""
