"""What the archivist can be told."""

from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from engine.options import kafka_client_options, master_url
from engine.store import Place, StoreSettings
from services.backbone.options import SecretOptions
from services.backbone.settings import (
    Port,
    Seconds,
    SparkKafkaSettings,
    StreamsSettings,
    same_as,
)

SHIPPED_ACCOUNTS: Final = Path(__file__).parent / "accounts"
"""Folder of the accounts that come with Aldebaran."""

Count = Annotated[int, Field(ge=1, le=4096)]


class ArchivistSettings(StoreSettings, SparkKafkaSettings, StreamsSettings):
    """Settings of the archivist; the defaults suit a small machine."""

    http_port: Port = 8091
    """For health and metrics."""
    archivist_streams: Path = same_as("streams_dir")
    """Another folder of streams for this program alone."""
    archivist_accounts: Path = SHIPPED_ACCOUNTS
    """Of those that come with Aldebaran, the ones over declared streams are run."""
    archivist_archive: Place = ".aldebaran/archive"
    """Where the Parquet files are, in one folder per stream: a folder, or s3a://bucket/prefix."""
    archivist_state: Path = Path(".aldebaran/archivist")
    """Folder of checkpoints, and of how far each account has judged."""
    archivist_jars: Path | None = None
    """Folder of the Kafka connector's jars; unset where Spark already has them."""

    archivist_master: str = ""
    """Spark's master; empty means this process, with `archivist_slots` threads."""
    archivist_slots: Count = 2
    """How many tasks run at once."""
    archivist_heap: Annotated[str, Field(pattern=r"^\d{1,6}[mg]$")] = "512m"
    """Java's heap."""
    archivist_shuffle_partitions: Count = 2
    """Into how many parts rows are shuffled."""
    archivist_niceness: Annotated[int, Field(ge=0, le=19)] = 10
    """How far it steps back behind everything else on its machine."""
    archivist_kafka_options: SecretOptions = same_as("auditor_kafka_options")
    """Other options of Kafka's clients for this program alone; values are masked."""
    archivist_fail_on_data_loss: bool = True
    """Whether it stops when records were deleted before it read them, instead of going on behind
    them: nothing counts such a gap, and accounts judge as if there were none."""

    archivist_interval_seconds: Annotated[float, Field(ge=0.1, le=86_400)] = 60.0
    """Pause from the start of one round to the start of the next."""
    archivist_records_per_batch: Annotated[int, Field(ge=1, le=100_000_000)] = 100_000
    """Most records of a stream that one batch takes; what a stop breaks off is done again."""
    archivist_files_per_batch: Count = 1
    """Most files that a batch writes into one folder."""
    archivist_clock_slack_seconds: Annotated[float, Field(ge=0, le=86_400)] = 60.0
    """How far the clocks of the brokers and of this machine may differ."""
    archivist_progress_grace_seconds: Seconds = 120.0
    """After three intervals and so long without progress the health page asks for a restart."""
    archivist_restarts_max: Annotated[int, Field(ge=0, le=1000)] = 8
    """With more failures of one job within the window the program ends."""
    archivist_restarts_window_seconds: Seconds = 1800.0
    """That window."""

    def kafka_client_options(self) -> dict[str, str]:
        """Return the options of every Kafka client of the archivist, without any prefix."""
        return kafka_client_options(self.kafka_bootstrap_servers, self.archivist_kafka_options)

    def spark_kafka_options(self) -> dict[str, str]:
        """Return the same options as Spark's Kafka source and sink take them."""
        return {f"kafka.{name}": value for name, value in self.kafka_client_options().items()}

    def jars(self) -> tuple[Path, ...]:
        """Return the folders of libraries that Spark gets from us."""
        return self.jars_for(self.archivist_jars, self.archivist_archive)

    def master(self) -> str:
        """Return where Spark runs."""
        return master_url(self.archivist_master, self.archivist_slots)
