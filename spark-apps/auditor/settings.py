"""What the auditor can be told."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from engine.options import kafka_client_options, master_url
from engine.store import Address, StoreSettings
from services.backbone.options import SecretOptions
from services.backbone.settings import (
    BatchesSettings,
    Port,
    Seconds,
    SparkKafkaSettings,
    StreamsSettings,
    WatchesSettings,
    same_as,
)
from services.contracts.records import Name

Count = Annotated[int, Field(ge=1, le=4096)]


class AuditorSettings(
    StoreSettings, SparkKafkaSettings, StreamsSettings, WatchesSettings, BatchesSettings
):
    """Settings of one auditor; two auditors differ in id, port, phase and nothing else."""

    http_port: Port = 8082
    """For health and metrics."""
    auditor_id: Name = "a"
    """This auditor's name; no two have the same."""
    auditor_watches: Path = same_as("watches_dir")
    """Another folder of watches for this program alone."""
    auditor_streams: Path = same_as("streams_dir")
    """Another folder of streams for this program alone."""
    auditor_checkpoints: Path = Path(".aldebaran/auditor")
    """Folder of checkpoints on a disk of this auditor's driver."""
    auditor_store: Address = ""
    """Where Spark's part of the checkpoints lies if not in that folder: s3a://bucket/prefix. What
    we note beside it stays on the disk, so executors need none that they share with the driver."""
    auditor_jars: Path | None = None
    """Folder of the Kafka connector's jars; unset where Spark already has them."""

    auditor_master: str = ""
    """Spark's master; empty means this process, with `auditor_slots` threads."""
    auditor_slots: Count = 16
    """How many tasks may run at once: input and shuffle partitions of all watches together."""
    auditor_heap: Annotated[str, Field(pattern=r"^\d{1,6}[mg]$")] = "1g"
    """Java's heap."""
    auditor_state_memory_mebibytes: Count = 128
    """Memory that RocksDB may take for all state of all watches."""
    auditor_shuffle_partitions: Count = 2
    """Into how many parts rows are shuffled; a changed number begins a watch's checkpoint anew. Of
    two auditors change one, and the other once that has caught up."""
    auditor_spark_options: SecretOptions = Field(default_factory=dict)
    """More of Spark's configuration; what stands here wins over what the auditor sets itself.
    Values are masked. None of `spark.hadoop.…`, or of a name with secret, password, token or access
    key, stands on Java's command line; what else is given does, Java's own options too."""
    auditor_fail_on_data_loss: bool = False
    """Whether a watch stops when records were deleted before it read them. If not, the loss is
    counted and told, and where the watch cannot read on behind them it is built again from the
    oldest kept event."""

    auditor_phase: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Where in a batch length, counted by the wall clock, batches end; a partner's is half more."""
    auditor_reload_delay_seconds: Seconds = 2.0
    """How long changed files must stay as they are before the change is taken; differs between
    auditors that share no folder of checkpoints, so that they take it one after the other."""
    auditor_progress_grace_seconds: Seconds = 30.0
    """After two batches and so long without progress a watch is started again."""
    auditor_restarts_max: Annotated[int, Field(ge=0, le=1000)] = 8
    """With more failures within the window a watch counts as failed, and is tried once a minute."""
    auditor_restarts_window_seconds: Seconds = 600.0
    """That window."""

    def jars(self) -> tuple[Path, ...]:
        """Return the folders of libraries that Spark gets from us."""
        return self.jars_for(self.auditor_jars, self.auditor_store)

    def store_here(self, watch: str) -> str:
        """Return the address of this auditor's part of a watch in the store, if there is one."""
        return f"{self.auditor_store}/{self.auditor_id}/{watch}" if self.auditor_store else ""

    def checkpoints_here(self) -> Path:
        """Return the folder of this auditor's checkpoints."""
        return self.auditor_checkpoints / self.auditor_id

    def spark_options(self) -> dict[str, str]:
        """Return more of Spark's configuration in clear."""
        options = self.auditor_spark_options.items()
        return {name: value.get_secret_value() for name, value in options}

    def kafka_client_options(self) -> dict[str, str]:
        """Return the options of every Kafka client of this auditor, without any prefix."""
        return kafka_client_options(self.kafka_bootstrap_servers, self.auditor_kafka_options)

    def master(self) -> str:
        """Return where Spark runs."""
        return master_url(self.auditor_master, self.auditor_slots)
