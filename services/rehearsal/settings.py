"""What the rehearsal program can be told."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from services.backbone.settings import LedgerSettings, Seconds, SparkKafkaSettings


class RehearsalSettings(LedgerSettings, SparkKafkaSettings):
    """How much one rehearsal may take; what is tried, and with which streams, as the auditors'."""

    rehearsal_records: Annotated[int, Field(ge=1, le=10_000_000)] = 200_000
    """Most records that are read, heartbeats included; of more the newest."""
    rehearsal_version_seconds: Seconds = 60.0
    """How long one version may read; there are two where a watch is to be replaced."""
    rehearsal_seconds: Seconds = 240.0
    """After so long all of it is ended."""
    rehearsal_heap: Annotated[str, Field(pattern=r"^\d{1,6}[mg]$")] = "512m"
    """Java's heap; Spark does not start with less, and takes about 300 MiB besides."""
    rehearsal_niceness: Annotated[int, Field(ge=0, le=19)] = 10
    """How far it steps back behind everything else on its machine; with 19 a machine whose cores
    are all busy may never come to it."""
    rehearsal_look_seconds: Seconds = 1.0
    """Time between two looks at whether somebody asks."""
    streams_dir: Path | None = None
    """The folder of declared streams."""
    watches_dir: Path | None = None
    """Where the auditors' tables of rules are; these folders count unless
    `ALDEBARAN_AUDITOR_STREAMS` and `ALDEBARAN_AUDITOR_WATCHES` name others."""
